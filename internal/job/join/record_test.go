package join

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/env"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
	"banyan/internal/trace"
)

// Each event can be read at once. Its time counts from the launcher's beginning. Recording
// allocates nothing.
func TestRecorder(t *testing.T) {
	dir := t.TempDir()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	const before = int64(time.Minute) // the launcher began so long ago
	t.Setenv(env.Trace, dir)
	t.Setenv(env.TraceBegin, strconv.FormatInt(now.Nano()-before, 10))
	r, err := newRecorder(3, 5)
	if err != nil {
		t.Fatal(err)
	}
	r.Sent(1, wire.KindTree)
	r.Received(2, wire.KindCorrection)
	r.Coloured()
	r.Died(4)
	text, err := os.ReadFile(filepath.Join(dir, "3.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []trace.Event
	h, err := trace.Read(strings.NewReader(string(text)), func(e trace.Event) error { got = append(got, e); return nil })
	if err != nil || h.Driver != "real" || h.Procs != 5 || h.Unit != "ns" {
		t.Fatalf("%+v, %v", h, err)
	}
	want := []trace.Event{
		{Proc: 3, Event: trace.Send, Peer: 1, Kind: "tree"}, {Proc: 3, Event: trace.Receive, Peer: 2, Kind: "correction"},
		{Proc: 3, Event: trace.Coloured, Peer: proto.NoProc}, {Proc: 4, Event: trace.Dead, Peer: proto.NoProc},
	}
	if len(got) != len(want) {
		t.Fatalf("%d events", len(got))
	}
	last := proto.Time(before)
	for i, e := range got {
		if e.Time < last || e.Time > 10*proto.Time(before) {
			t.Errorf("event %d at %d, after %d", i, e.Time, last)
		}
		last, e.Time = e.Time, 0
		if e != want[i] {
			t.Errorf("event %d is %+v, want %+v", i, e, want[i])
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Sent(1, wire.KindEager) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A span's recorder has only what happens in the span, with a wait that began before it, and so
// many events at most.
func TestSpanRecorder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "span")
	begin := monotonic() // now is 0
	r, err := newSpanRecorder(3, 5, &counters.Span{Begin: begin, From: 50e6, Until: 10e9, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	r.Waits()
	r.Resumes() // over before the span
	r.Sent(1, wire.KindTree)
	r.Waits()
	time.Sleep(60 * time.Millisecond)
	r.Received(2, wire.KindTree)
	r.Resumes()
	if r.Over() {
		t.Error("it is over before its end")
	}
	if n := testing.AllocsPerRun(100, func() { r.Sent(1, wire.KindEager) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for range trace.MaxSpan {
		r.Coloured()
	}
	read := func() (got []trace.Event) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = trace.Read(bytes.NewReader(text), func(e trace.Event) error { got = append(got, e); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := read()
	if len(got) != trace.MaxSpan {
		t.Errorf("%d events", len(got))
	}
	if got[0] != (trace.Event{Time: 50e6, Proc: 3, Event: trace.Wait, Peer: proto.NoProc}) || got[1].Event != trace.Receive || got[2].Event != trace.Resume {
		t.Errorf("it begins with %+v", got[:3])
	}
	r.until = r.now()
	if r.left = 10; !r.Over() {
		t.Error("it isn't over after its end")
	}
	r.Waits()
	if n := len(read()); n != trace.MaxSpan {
		t.Errorf("%d events after its end", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := newSpanRecorder(3, 5, &counters.Span{Path: path}); err == nil {
		t.Error("a file of that name is written anew")
	}
}

func monotonic() int64 {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return now.Nano()
}

func TestNoRecorder(t *testing.T) {
	if r, err := newRecorder(0, 1); r != nil || err != nil {
		t.Error(r, err)
	}
	t.Setenv(env.Trace, t.TempDir())
	t.Setenv(env.TraceBegin, "today")
	if _, err := newRecorder(0, 1); err == nil || !strings.Contains(err.Error(), env.TraceBegin) {
		t.Error(err)
	}
	t.Setenv(env.Trace, filepath.Join(t.TempDir(), "missing"))
	t.Setenv(env.TraceBegin, "0")
	if _, err := newRecorder(0, 1); err == nil || !strings.Contains(err.Error(), env.Trace) {
		t.Error(err)
	}
}
