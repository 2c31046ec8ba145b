package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/env"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// recordSpan is a process that records one event of each span that is asked of it, two times.
func recordSpan() {
	fd, _, err := env.TakeCountersFD()
	if err != nil {
		panic(err)
	}
	memory, err := unix.Mmap(fd, 0, counters.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	page, err := counters.On(unsafe.Slice(unsafe.SliceData(memory), len(memory)))
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("ready\n")
	for n := uint64(0); n < 2; time.Sleep(time.Millisecond) {
		s, ok := page.Span()
		if !ok || s.Number == n {
			continue
		}
		n = s.Number
		file, err := os.OpenFile(s.Path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			panic(err)
		}
		w := trace.NewWriter(file, trace.Header{Driver: "real", Procs: 2, Unit: "ns"})
		w.Write(trace.Event{Time: s.From, Event: trace.Wait, Peer: proto.NoProc})
		if err := w.Flush(); err != nil {
			panic(err)
		}
	}
	os.Stdin.Read(make([]byte, 1))
}

// Local asks all processes that count, waits for the end of the span, and merges what they have
// recorded. Nothing is left in the directory for temporary files.
func TestTraceSpan(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := newLocal(t)
	var procs []Process
	for range 2 {
		p := started(t, l, Spec{Path: self, Argv: []string{self}, Env: append(os.Environ(), roleVariable+"=recorder"), Input: SomeInput, Counters: true})
		if got := line(t, p.Stdout()); got != "ready" {
			t.Fatalf("it prints %q", got)
		}
		procs = append(procs, p)
	}
	procs = append(procs, started(t, l, script("read x"))) // it doesn't count
	for turn := range 2 {
		begin := int64(sinceBegin(0))
		began := time.Now()
		r, err := l.Trace(context.Background(), Span{Begin: begin, From: 7, Until: 300e6})
		if err != nil || r.Processes != 2 || r.Full != 0 {
			t.Fatalf("turn %d: %+v %v", turn, r, err)
		}
		if d := time.Since(began); d < 300*time.Millisecond {
			t.Errorf("it came after %v", d)
		}
		n := 0
		if _, err := trace.Read(bytes.NewReader(r.Trace), func(e trace.Event) error { n++; return nil }); err != nil || n != 2 {
			t.Errorf("%d events, %v", n, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if r, err := l.Trace(ctx, Span{Until: proto.Never / 2}); err != nil || r.Processes != 0 || r.Trace != nil {
		t.Errorf("when nobody waits for its end: %+v %v", r, err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
	long := filepath.Join(tmp, strings.Repeat("d", 200), strings.Repeat("e", 200))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	if _, err := l.Trace(context.Background(), Span{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long name: %v", err)
	}
	for _, p := range procs {
		p.Signal(unix.SIGKILL)
		waited(t, p)
	}
}
