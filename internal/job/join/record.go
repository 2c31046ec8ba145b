package join

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

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
	r := &recorder{self: self, begin: begin, out: trace.NewWriter(file, trace.Header{Driver: "real", Procs: procs, Unit: "ns"})}
	return r, r.out.Flush()
}

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

func (r *recorder) Waits() { r.write(r.self, trace.Wait, proto.NoProc, "") }

func (r *recorder) Resumes() { r.write(r.self, trace.Resume, proto.NoProc, "") }

func (r *recorder) write(p proto.Proc, event string, peer proto.Proc, kind string) {
	// This is the system's clock, which all processes share. If this process took the difference
	// to its own clock once, that would be off by the time for which it was preempted in between,
	// and messages would be received before they are sent.
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // can't fail: the clock is always there
	r.out.Write(trace.Event{Time: proto.Time(now.Nano() - r.begin), Proc: p, Event: event, Peer: peer, Kind: kind})
	_ = r.out.Flush() // the error sticks; a full disk is no reason to end the job
}
