package join

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/env"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/wire"
	"banyan/internal/trace"
)

// recorder writes a trace of one process to a file of its own. It writes each event at once,
// since the process may be killed at any moment.
type recorder struct {
	self  proto.Proc
	begin int64 // of the trace: nanoseconds of CLOCK_MONOTONIC
	out   *trace.Writer
	file  *os.File

	// Only what happens from from on and before until is recorded, and so many events at most.
	from, until proto.Time
	left        int
	waits       bool // since before from
}

// newRecorder makes the recorder that the environment asks for. It is nil if it asks for none.
func newRecorder(self proto.Proc, procs int) (*recorder, error) {
	dir := os.Getenv(env.Trace)
	if dir == "" {
		return nil, nil
	}
	begin, err := strconv.ParseInt(os.Getenv(env.TraceBegin), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s=%q must be a number of nanoseconds", env.TraceBegin, os.Getenv(env.TraceBegin))
	}
	file, err := os.Create(filepath.Join(dir, strconv.Itoa(int(self))+".jsonl"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", env.Trace, err)
	}
	r := &recorder{self: self, begin: begin, file: file, out: trace.NewWriter(file, header(procs)), from: math.MinInt64, until: proto.Never, left: math.MaxInt}
	return r, r.out.Flush()
}

func header(procs int) trace.Header { return trace.Header{Driver: "real", Procs: procs, Unit: "ns"} }

// newSpanRecorder makes the recorder of a span of time. It writes each event at once, too.
func newSpanRecorder(self proto.Proc, procs int, s *counters.Span) (*recorder, error) {
	file, err := os.OpenFile(s.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	r := &recorder{self: self, begin: s.Begin, file: file, out: trace.NewWriter(file, header(procs)), from: s.From, until: s.Until, left: trace.MaxSpan}
	return r, r.out.Flush()
}

// Over implements engine.SpanRecorder.
func (r *recorder) Over() bool { return r.now() >= r.until }

// Close implements engine.SpanRecorder.
func (r *recorder) Close() error { return r.file.Close() }

// record gives a process a recorder, if the environment asks for one.
func record(cfg *process.Config) error {
	r, err := newRecorder(cfg.Self, cfg.Layout.Procs())
	if r != nil {
		cfg.Recorder = r
	}
	return err
}

// Sent and what follows implement process.Recorder.
func (r *recorder) Sent(to proto.Proc, k wire.Kind) { r.write(r.self, trace.Send, to, k.String()) }

func (r *recorder) Received(from proto.Proc, k wire.Kind) {
	r.write(r.self, trace.Receive, from, k.String())
}

func (r *recorder) Coloured() { r.write(r.self, trace.Coloured, proto.NoProc, "") }

func (r *recorder) Died(q proto.Proc) { r.write(q, trace.Dead, proto.NoProc, "") }

func (r *recorder) Waits() {
	r.waits = true // until something is written
	r.write(r.self, trace.Wait, proto.NoProc, "")
}

func (r *recorder) Resumes() {
	r.write(r.self, trace.Resume, proto.NoProc, "")
	r.waits = false
}

// now is the time since the trace's beginning.
func (r *recorder) now() proto.Time {
	// This is the system's clock, which all processes share. If this process took the difference
	// to its own clock once, that would be off by the time for which it was preempted in between,
	// and messages would be received before they are sent.
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // can't fail: the clock is always there
	return proto.Time(now.Nano() - r.begin)
}

func (r *recorder) write(p proto.Proc, event string, peer proto.Proc, kind string) {
	now := r.now()
	if now < r.from || now >= r.until || r.left <= 0 {
		return
	}
	if r.waits && event != trace.Wait { // its wait began before the span
		r.put(trace.Event{Time: r.from, Proc: r.self, Event: trace.Wait, Peer: proto.NoProc})
	}
	r.waits = false
	r.put(trace.Event{Time: now, Proc: p, Event: event, Peer: peer, Kind: kind})
	_ = r.out.Flush() // the error sticks; a full disk is no reason to end the job
}

func (r *recorder) put(e trace.Event) {
	r.left--
	r.out.Write(e)
}
