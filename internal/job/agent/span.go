package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/jobdir"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

const (
	// spanKind begins the names of directories in which processes record spans.
	spanKind = "banyan-span-"
	// spanGrace is how long after a span its last events may be written: a process may be preempted
	// between looking at the clock and writing.
	spanGrace = 50 * time.Millisecond
)

// Trace implements Tracing. Each process gets the name of a file by the memory in which it counts,
// and looks there some times a second.
func (l *Local) Trace(ctx context.Context, s Span) (r Recording, err error) {
	dir, err := jobdir.Make(os.TempDir(), spanKind)
	if err != nil {
		return r, fmt.Errorf("there is no directory for the trace: %w", err)
	}
	defer dir.Remove()
	paths, err := l.askAll(dir.Path, &s)
	if err != nil {
		return r, err
	}
	select {
	case <-time.After(time.Duration(s.Until-sinceBegin(s.Begin)) + spanGrace):
	case <-ctx.Done():
	}
	var parts []io.Reader
	for _, path := range paths {
		text, err := os.ReadFile(path)
		switch n := bytes.Count(text, []byte{'\n'}) - 1; {
		case errors.Is(err, fs.ErrNotExist): // it hasn't looked in time, or has ended
		case err != nil:
			return r, err
		case n > 0:
			r.Processes++
			if n >= trace.MaxSpan {
				r.Full++
			}
			parts = append(parts, bytes.NewReader(text))
		}
	}
	if len(parts) == 0 {
		return r, nil
	}
	var whole bytes.Buffer
	if _, err := trace.Merge(&whole, trace.Header{Driver: "real", Procs: len(parts), Unit: "ns"}, parts...); err != nil {
		return r, err
	}
	r.Trace = whole.Bytes()
	return r, nil
}

// askAll asks all processes that count for a span, and returns where they record.
func (l *Local) askAll(dir string, s *Span) (paths []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans++
	for p := range l.live {
		path := filepath.Join(dir, strconv.Itoa(p.pid)+".jsonl")
		if len(path) > counters.MaxPath {
			return nil, fmt.Errorf("the name of the directory %s is too long: set TMPDIR to a shorter one", dir)
		}
		p.mu.Lock()
		if p.counts.ask(&counters.Span{Number: l.spans, Begin: s.Begin, From: s.From, Until: s.Until, Path: path}) {
			paths = append(paths, path)
		}
		p.mu.Unlock()
	}
	return paths, nil
}

// sinceBegin is the time since a time of CLOCK_MONOTONIC.
func sinceBegin(begin int64) proto.Time {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // can't fail: the clock is always there
	return proto.Time(now.Nano() - begin)
}
