package lateness

import (
	"fmt"
	"strings"
	"testing"
)

const header = `{"banyan":"trace","version":1,"driver":"real","procs":3,"unit":"ns"}` + "\n"

// told is a line for each process of a trace.
func told(t *testing.T, text string) string {
	t.Helper()
	s, err := Read(strings.NewReader(header + text))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range s.Processes {
		all = append(all, fmt.Sprintf("%d: %d/%d, sends late %d (%d), receives late %d (%d)", p.Proc, p.Sent, p.Received, p.LateSending, p.Delayed, p.LateReceiving, p.Waited))
	}
	return strings.Join(all, "\n")
}

// message is a message that is sent and received.
func message(from, to int, kind string, sent, received int) string {
	return fmt.Sprintf(`{"t":%d,"proc":%d,"event":"send","peer":%d,"kind":"%s"}`+"\n"+`{"t":%d,"proc":%d,"event":"receive","peer":%d,"kind":"%s"}`+"\n",
		sent, from, to, kind, received, to, from, kind)
}

// Process 0 hears of process 1 and is then quiet until process 2 sends: process 2 is late.
func TestLateSender(t *testing.T) {
	got := told(t, message(1, 0, "eager", 10, 20)+message(2, 0, "heartbeat", 100, 110)+message(2, 0, "eager", 520, 530))
	want := "2: 1/0, sends late 500 (0), receives late 0 (-1)\n0: 0/2, sends late 0 (-1), receives late 0 (-1)\n1: 1/0, sends late 0 (-1), receives late 0 (-1)"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a process waits is charged, from the last message on, and what it computes isn't.
func TestWaits(t *testing.T) {
	at := func(t, proc int, event string) string {
		return fmt.Sprintf(`{"t":%d,"proc":%d,"event":"%s"}`+"\n", t, proc, event)
	}
	got := told(t, at(0, 0, "wait")+message(1, 0, "eager", 10, 20)+at(21, 0, "resume")+at(300, 0, "wait")+
		message(2, 0, "eager", 520, 530)+at(531, 0, "resume")+message(0, 1, "eager", 600, 601))
	// Process 0 computes from 21 to 300.
	if !strings.Contains(got, "2: 1/0, sends late 220 (0)") || !strings.Contains(got, "1: 1/1, sends late 10 (0)") {
		t.Errorf("got\n%s", got)
	}
	s, err := Read(strings.NewReader(header + at(0, 0, "wait") + message(1, 0, "eager", 10, 20) + at(21, 0, "resume") +
		`{"t":600,"proc":0,"event":"send","peer":2,"kind":"eager"}`))
	if err != nil || !s.Waits {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, p := range s.Processes {
		if want := [...]int{579, 0, 0}[p.Proc]; int(p.Critical) != want {
			t.Errorf("process %d is on the critical path for %d, want %d", p.Proc, p.Critical, want)
		}
	}
}

// A message that waits for process 1 longer than the quickest one did is charged to it.
func TestLateReceiver(t *testing.T) {
	got := told(t, message(0, 1, "eager", 10, 15)+message(0, 1, "eager", 12, 317))
	if want := "1: 0/2, sends late 0 (-1), receives late 300 (0)\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// An offer that no receive wants for a while is charged to the receiver; the data that follows to
// nobody.
func TestLateReceiveOfLargeMessage(t *testing.T) {
	got := told(t, message(0, 2, "offer", 10, 15)+message(2, 0, "pull", 915, 920)+message(0, 2, "data", 921, 5000))
	if want := "2: 1/2, sends late 0 (-1), receives late 900 (0)\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// A receive whose send isn't there, and clocks that disagree, charge nobody.
func TestBrokenTraces(t *testing.T) {
	got := told(t, `{"t":5,"proc":1,"event":"receive","peer":0,"kind":"eager"}`+"\n"+message(0, 1, "eager", 20, 10))
	if strings.Contains(got, "late 1") || strings.Contains(got, "late 2") {
		t.Errorf("got\n%s", got)
	}
	for _, text := range []string{`{"t":1,"proc":3,"event":"send","peer":1,"kind":"eager"}`, `{"t":1,"proc":0,"event":"send","kind":"eager"}`, `{"t":-1,"proc":0,"event":"dead"}`, "{"} {
		if _, err := Read(strings.NewReader(header + text + "\n")); err == nil {
			t.Errorf("%q is a trace", text)
		}
	}
}
