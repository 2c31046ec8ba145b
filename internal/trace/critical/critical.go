// Package critical finds the critical path of a run: the chain of computations, messages and waits
// that its end had to wait for. What isn't on it could have taken a little longer without the run
// taking longer.
//
// A [Finder] hears a trace's events and then goes back from the last, leaving aside processes that
// wait in the end: those were killed, and nothing came of their wait. A process computes since its
// last wait has ended. What has ended that wait is the last message that came before its end: if
// that was sent while the process waited, the path goes on at its sender; if it was under way
// already, or nothing came, the path stays.
//
// # Invariants
//
// The segments of a path follow each other in time without a gap, from the first event of the
// process at which the path begins to the last event of all that don't wait in the end.
//
// # Limits
//
// Only a trace with waits has a path: those of real runs, since waits are recorded. A program that
// polls (MPI_Test) seems to compute. Of a process with several threads a wait begins when the first
// of them waits and ends when none does any more. Waits for a file, or for the program's own locks,
// are computing. Times of two hosts are as good as their clocks: a message that seems to be sent
// after it has come ends no wait. Memory is linear in the waits and in the messages under way.
package critical

import (
	"slices"
	"sort"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// What a segment is.
type What uint8

const (
	Computing What = iota // the process computes, or does what no trace shows
	Waiting               // the process waits, for a message that is under way or for something else
	Flight                // a message is under way from the process to another one
)

func (w What) String() string { return [...]string{"computing", "waiting", "flight"}[w] }

// Segment is a part of a path. Proc computes, waits or has sent the message; only a Flight has a
// receiver, To, and the message's Kind.
type Segment struct {
	What       What
	Proc, To   proto.Proc
	Kind       string
	Begin, End proto.Time
}

// wait is one of a process, with the last message that came in it; from is NoProc if none came.
type wait struct {
	begin, end proto.Time
	from       proto.Proc
	kind       string
	sent       proto.Time
}

// process is what is known of a process.
type process struct {
	began, last proto.Time // its first and last event; Never: it has none
	waits       []wait     // in order; the last is going on if waiting
	waiting     bool
}

// Finder finds a path. Events come in the order of their times.
type Finder struct {
	procs []process
	pairs trace.Pairs
}

// NewFinder begins with a trace of so many processes.
func NewFinder(procs int) *Finder {
	f := &Finder{procs: make([]process, procs)}
	for i := range f.procs {
		f.procs[i].began, f.procs[i].last = proto.Never, proto.Never
	}
	return f
}

// Event takes an event. Its processes are within the trace's, and its time isn't negative.
func (f *Finder) Event(e trace.Event) {
	p := &f.procs[e.Proc]
	switch e.Event {
	case trace.Wait:
		if !p.waiting {
			p.waits, p.waiting = append(p.waits, wait{begin: e.Time, end: e.Time, from: proto.NoProc}), true
		}
	case trace.Resume:
		if p.waiting {
			p.waits[len(p.waits)-1].end, p.waiting = e.Time, false
		}
	case trace.Send, trace.Receive:
		if trace.PurposeOf(e.Kind) == trace.Other {
			return // heartbeats and the like end no wait, and begin no run
		}
		if e.Event == trace.Send {
			f.pairs.Send(e)
		} else if sent, ok := f.pairs.End(e); ok && p.waiting {
			w := &p.waits[len(p.waits)-1]
			w.from, w.kind, w.sent = e.Peer, e.Kind, sent.At
		}
	default:
		return
	}
	if p.began == proto.Never {
		p.began = e.Time
	}
	p.last = e.Time
}

// Path is the critical path, in the order of time; nil if the trace has no waits.
func (f *Finder) Path() []Segment {
	waits := false
	at, now := proto.NoProc, proto.Time(0)
	rest := make([]int, len(f.procs)) // by process: how many of its waits may still be on the path
	for i := range f.procs {
		p := &f.procs[i]
		if rest[i] = len(p.waits); p.waiting {
			rest[i]--
		}
		waits = waits || rest[i] > 0
		if p.last != proto.Never && !p.waiting && (at == proto.NoProc || p.last > now) {
			at, now = proto.Proc(i), p.last
		}
	}
	if !waits || at == proto.NoProc {
		return nil
	}
	var path []Segment
	add := func(s Segment) {
		if s.End > s.Begin {
			path = append(path, s)
		}
	}
	for {
		p := &f.procs[at]
		// The last wait of this process that was over by now.
		n := sort.Search(rest[at], func(i int) bool { return p.waits[i].end > now })
		if rest[at] = n; n == 0 {
			add(Segment{What: Computing, Proc: at, To: proto.NoProc, Begin: min(p.began, now), End: now})
			break
		}
		rest[at]--
		w := &p.waits[n-1]
		add(Segment{What: Computing, Proc: at, To: proto.NoProc, Begin: w.end, End: now})
		if w.from != proto.NoProc && w.sent > w.begin && w.sent < w.end {
			add(Segment{What: Flight, Proc: w.from, To: at, Kind: w.kind, Begin: w.sent, End: w.end})
			at, now = w.from, w.sent
			continue
		}
		add(Segment{What: Waiting, Proc: at, To: proto.NoProc, Begin: w.begin, End: w.end})
		now = w.begin
	}
	slices.Reverse(path)
	return path
}
