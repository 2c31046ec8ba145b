package trace

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

func TestRoundTrip(t *testing.T) {
	events := []Event{
		{Time: 0, Proc: 3, Event: Dead, Peer: proto.NoProc},
		{Time: 0, Proc: 0, Event: Send, Peer: 1, Kind: "tree"},
		{Time: 1 << 40, Proc: 1, Event: Receive, Peer: 0, Kind: "tree"},
		{Time: 1 << 40, Proc: 1, Event: Coloured, Peer: proto.NoProc},
	}
	var b bytes.Buffer
	w := NewWriter(&b, Header{Driver: "logp", Procs: 4, Unit: "step", About: `a "quoted" run`})
	for _, e := range events {
		w.Write(e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var got []Event
	h, err := Read(&b, func(e Event) error { got = append(got, e); return nil })
	want := Header{Banyan: "trace", Version: Version, Driver: "logp", Procs: 4, Unit: "step", About: `a "quoted" run`}
	if err != nil || h != want || !slices.Equal(got, events) {
		t.Errorf("read %+v %+v, %v", h, got, err)
	}
}

func TestReadErrors(t *testing.T) {
	const header = `{"banyan":"trace","version":1}` + "\n"
	for text, want := range map[string]string{
		"":                                "not a trace",
		"{}\n":                            "line 1",
		"hello\n":                         "line 1",
		`{"banyan":"trace","version":9}`:  "version 9",
		header + `{"t":1}` + "\n" + `{"t`: "line 3",
		header + `{"t":"one"}`:            "line 2",
	} {
		if _, err := Read(strings.NewReader(text), func(Event) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	stop := errors.New("enough")
	if _, err := Read(strings.NewReader(header+`{"t":1}`), func(Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error is lost: %v", err)
	}
}

func TestReadFrom(t *testing.T) {
	refused := errors.New("too large")
	_, err := ReadFrom(strings.NewReader(`{"banyan":"trace","version":1,"procs":7}`), func(h Header) error {
		if h.Procs != 7 {
			t.Errorf("%d processes, want 7", h.Procs)
		}
		return refused
	}, nil)
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("error %v", err)
	}
}

func TestReadLongLine(t *testing.T) {
	text := `{"banyan":"trace","version":1}` + "\n" + strings.Repeat(" ", MaxLine+1)
	_, err := Read(strings.NewReader(text), func(Event) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "line 2: longer than") {
		t.Errorf("error %v", err)
	}
}

func TestParam(t *testing.T) {
	h := Header{About: "broadcast L=2 o=1 tree=lame k=3"}
	for name, want := range map[string]string{"L": "2", "o": "1", "k": "3", "tree": "lame", "broadcast": "", "ee": ""} {
		if got := h.Param(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorSticks(t *testing.T) {
	w := NewWriter(failing{}, Header{})
	w.Write(Event{Event: Send})
	if w.Flush() == nil {
		t.Error("the writer's error is lost")
	}
}

func TestWriteDoesNotAllocate(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, Header{})
	w.Write(Event{Event: Receive, Kind: "a kind of some length", Time: 1 << 60})
	n := testing.AllocsPerRun(100, func() { w.Write(Event{Time: 5, Proc: 1, Event: Send, Peer: 2, Kind: "tree"}) })
	if n > 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"banyan":"trace","version":1}` + "\n" + `{"t":1,"proc":2,"event":"send","peer":3,"kind":"tree"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = Read(bytes.NewReader(data), func(Event) error { return nil })
	})
}
