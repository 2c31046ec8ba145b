package control

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/env"
)

// socketpair returns two connected descriptors.
func socketpair(t *testing.T) (near, far int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fds[0], fds[1]
}

func pair(t *testing.T) (near, far *Conn) {
	t.Helper()
	a, b := socketpair(t)
	near, far = NewConn(os.NewFile(uintptr(a), "near")), NewConn(os.NewFile(uintptr(b), "far"))
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestEveryMessageArrives(t *testing.T) {
	near, far := pair(t)
	messages := []Message{
		{Type: Ready, Pid: 4711},
		{Type: Survive},
		{Type: Suspect, Proc: 3, Silent: 1024 * time.Millisecond},
		{Type: Suspect, Proc: 0, Silent: time.Second},
		{Type: Abort, Code: -1, Text: "two\nlines and a \"quote\""},
		{Type: Lost, Proc: 2, Text: "Recv"},
		{Type: Death, Proc: 1, Signal: 9, Cause: "signal 9 (killed)"},
		{Type: Left, Proc: 5},
		{Type: Traced, Proc: 2},
		{Type: Untraced, Proc: 2},
		{Type: Shutdown, Text: "interrupted"},
		{Type: View, Number: 2, Members: 3, Gone: []Gone{{2, "died"}, {0, "silent"}}},
		{Type: Member, Proc: 3, Incarnation: 1, Pid: 12, Card: "2,host/1,127.0.0.1:1,12,9,1,"},
		{Type: Finalized},
	}
	go func() {
		for _, m := range messages {
			if err := near.Send(m); err != nil {
				t.Error(err)
			}
		}
		near.Close()
	}()
	for _, want := range messages {
		got, err := far.Receive()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	}
	if _, err := far.Receive(); err != io.EOF {
		t.Errorf("at the end got %v, want io.EOF", err)
	}
}

func TestLinesOfSeveralGoroutinesDontMix(t *testing.T) {
	near, far := pair(t)
	const senders, each = 8, 200
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				near.Send(Message{Type: Lost, Code: s, Signal: i, Text: strings.Repeat("x", 100)})
			}
		})
	}
	next := make([]int, senders)
	for range senders * each {
		m, err := far.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.Signal != next[m.Code] {
			t.Fatalf("sender %d: got %d, want %d", m.Code, m.Signal, next[m.Code])
		}
		next[m.Code]++
	}
	wg.Wait()
}

func TestLongTextIsClipped(t *testing.T) {
	near, far := pair(t)
	// Control characters are the worst case: six bytes each in JSON.
	if err := near.Send(Message{Type: Abort, Text: strings.Repeat("\x01", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	m, err := far.Receive()
	if err != nil || len(m.Text) != maxText {
		t.Errorf("got %d bytes, %v", len(m.Text), err)
	}
}

func TestCloseWakesReceive(t *testing.T) {
	near, far := pair(t)
	got := make(chan error)
	go func() { _, err := near.Receive(); got <- err }()
	far.Send(Message{Type: Left}) // sets Receive in motion, not needed otherwise
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	go func() { _, err := near.Receive(); got <- err }()
	near.Close()
	select {
	case err := <-got:
		if err == nil {
			t.Error("Receive returned a message")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Receive hangs")
	}
}

func TestUnreadLinesDontHideTheEnd(t *testing.T) {
	near, far := pair(t)
	far.Send(Message{Type: Ready})
	near.Close() // with an unread line: far sees a reset
	if _, err := far.Receive(); err != io.EOF {
		t.Errorf("got %v, want io.EOF", err)
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv(env.ControlFD, "")
	if c, err := FromEnv(); c != nil || err != nil {
		t.Errorf("without a launcher got %v, %v", c, err)
	}
	for _, bad := range []string{"x", "-1", "987654"} {
		t.Setenv(env.ControlFD, bad)
		if c, err := FromEnv(); err == nil {
			t.Errorf("%q gave %v", bad, c)
		}
	}
	a, b := socketpair(t)
	t.Setenv(env.ControlFD, fmt.Sprint(b))
	c, err := FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := NewConn(os.NewFile(uintptr(a), "other"))
	defer other.Close()
	go c.Send(Message{Type: Ready})
	if m, err := other.Receive(); err != nil || m.Type != Ready {
		t.Errorf("got %v, %v", m, err)
	}
	if os.Getenv(env.ControlFD) != "" {
		t.Error("the descriptor is offered to children")
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Message{{Type: Ready}, {Type: Suspect, Proc: 7, Silent: 1}, {Type: Abort, Code: 3, Text: "é\n"}, {Type: Admit, Incarnation: 1, Card: "x"}} {
		b, _ := encode(m)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		line, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Text) <= maxText && len(m.Cause) <= maxText && len(m.Card) <= maxCard && !reflect.DeepEqual(again, m) {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}
