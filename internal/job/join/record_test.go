package join

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
