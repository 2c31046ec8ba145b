// Package lateness says which processes of a trace made others wait: which sent late, which
// received late, and what that cost.
//
// A trace has the frames between processes, not what their programs computed:
//
//   - A message's sender is late if the receiver waited for a while before the message was sent.
//     That while is charged to the sender, from the last message on that the receiver sent or got.
//     A simulated trace, or an old one, doesn't tell when processes waited. There the while counts
//     in which the receiver had sent and received nothing of the program. It may have computed
//     then, so it is an upper bound.
//   - A message's receiver is late if the message was under way for longer than the quickest one
//     between the two. The excess is charged to the receiver: it didn't look, or wasn't given a
//     core, or the network was slow. Of large messages the receiver's answer to the offer ("pull")
//     is charged from the arrival of the offer on: no receive was posted.
//
// # Limits
//
// Heartbeats, acknowledgements and other frames that carry nothing of the program don't count. Time
// between two clocks (several hosts) is as good as the clocks. Memory is linear in the messages.
package lateness

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/trace"
	"banyan/internal/trace/critical"
)

// MaxProcs is how many processes a trace may have.
const MaxProcs = 1 << 16

// Process is what is known of a process.
type Process struct {
	Proc           proto.Proc
	Sent, Received int // messages of the program, and of collectives
	// LateSending is for how long others waited, or were quiet, before messages of this process
	// were sent. Delayed is the process that did so longest.
	LateSending proto.Time
	Delayed     proto.Proc
	// LateReceiving is for how long messages to this process were under way or on offer beyond what
	// they need. Waited is the process whose messages were that longest.
	LateReceiving proto.Time
	Waited        proto.Proc
	// Critical is for how long the process is on the critical path (package critical); 0 if the
	// trace has no waits.
	Critical proto.Time
}

// Cost is what the process may have cost others.
func (p *Process) Cost() proto.Time { return p.LateSending + p.LateReceiving }

// Summary is what a trace shows.
type Summary struct {
	Header    trace.Header
	Waits     bool      // the trace tells when processes waited
	Processes []Process // those that cost most first
}

// pair is a sender and a receiver.
type pair struct{ from, to proto.Proc }

// flight is a message that was received.
type flight struct {
	pair
	took proto.Time
}

// reader collects what Read reads.
type reader struct {
	s        Summary
	pairs    trace.Pairs
	active   []proto.Time // the last event of the program's at each process; Never: none
	since    []proto.Time // since when each process waits; Never: it doesn't
	finder   *critical.Finder
	flights  []flight
	quickest map[pair]proto.Time
	offers   map[pair][]proto.Time // that have come, and that no pull has answered
	sending  map[pair]proto.Time   // charged to from, by to
	waiting  map[pair]proto.Time   // charged to to, by from
}

// counts says whether a kind of frame carries something of the program.
func counts(kind string) bool {
	p := trace.PurposeOf(kind)
	return p == trace.Message || p == trace.Dissemination || p == trace.Collection
}

// Read reads a trace. Its errors name the line.
func Read(from io.Reader) (*Summary, error) {
	r := reader{quickest: make(map[pair]proto.Time), offers: make(map[pair][]proto.Time), sending: make(map[pair]proto.Time), waiting: make(map[pair]proto.Time)}
	h, err := trace.ReadFrom(from, r.begin, r.event)
	if err != nil {
		return nil, err
	}
	r.s.Header = h
	for _, s := range r.finder.Path() {
		if s.What != critical.Flight {
			r.s.Processes[s.Proc].Critical += s.End - s.Begin
		}
	}
	for _, f := range r.flights {
		r.waiting[f.pair] += f.took - r.quickest[f.pair]
	}
	// In the order of processes, so that of several that are equal the first is named.
	pairs := make([]pair, 0, len(r.quickest))
	for p := range r.sending {
		pairs = append(pairs, p)
	}
	for p := range r.waiting {
		if _, both := r.sending[p]; !both {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	most := make([]struct{ sending, waiting proto.Time }, len(r.s.Processes))
	for _, p := range pairs {
		sender, receiver := &r.s.Processes[p.from], &r.s.Processes[p.to]
		sender.LateSending += r.sending[p]
		receiver.LateReceiving += r.waiting[p]
		if r.sending[p] > most[p.from].sending {
			most[p.from].sending, sender.Delayed = r.sending[p], p.to
		}
		if r.waiting[p] > most[p.to].waiting {
			most[p.to].waiting, receiver.Waited = r.waiting[p], p.from
		}
	}
	slices.SortStableFunc(r.s.Processes, func(a, b Process) int { return cmp.Compare(b.Cost(), a.Cost()) })
	return &r.s, nil
}

func (r *reader) begin(h trace.Header) error {
	if h.Procs < 1 || h.Procs > MaxProcs {
		return fmt.Errorf("%d processes: want 1 to %d", h.Procs, MaxProcs)
	}
	for p := range proto.Proc(h.Procs) {
		r.s.Processes = append(r.s.Processes, Process{Proc: p, Delayed: proto.NoProc, Waited: proto.NoProc})
		r.active, r.since = append(r.active, proto.Never), append(r.since, proto.Never)
	}
	r.finder = critical.NewFinder(h.Procs)
	return nil
}

// maxTime keeps sums from overflowing.
const maxTime = 1 << 52

func (r *reader) event(e trace.Event) error {
	if e.Proc < 0 || int(e.Proc) >= len(r.active) {
		return fmt.Errorf("proc: %d: want 0 to %d", e.Proc, len(r.active)-1)
	}
	if e.Time < 0 || e.Time > maxTime {
		return fmt.Errorf("t: %d is no time", e.Time)
	}
	switch message := e.Event == trace.Send || e.Event == trace.Receive; {
	case e.Event == trace.Wait && r.since[e.Proc] == proto.Never:
		r.s.Waits, r.since[e.Proc] = true, e.Time
	case e.Event == trace.Resume:
		r.since[e.Proc] = proto.Never
	case message && (e.Peer < 0 || int(e.Peer) >= len(r.active)):
		return fmt.Errorf("peer: %d: want 0 to %d", e.Peer, len(r.active)-1)
	case message && counts(e.Kind):
		r.message(e)
	}
	r.finder.Event(e)
	return nil
}

// quiet is since when a process has waited for a message, or else sent and received none. ok is
// false if it hasn't.
func (r *reader) quiet(p proto.Proc) (since proto.Time, ok bool) {
	last, waits := r.active[p], r.since[p]
	switch {
	case !r.s.Waits || waits == proto.Never:
		return last, !r.s.Waits && last != proto.Never
	case last == proto.Never:
		return waits, true
	}
	return max(last, waits), true
}

// message takes one end of a message that counts.
func (r *reader) message(e trace.Event) {
	p := &r.s.Processes[e.Proc]
	quiet, charged := r.quiet(e.Proc)
	r.active[e.Proc] = e.Time
	if e.Event == trace.Send {
		p.Sent++
		r.pairs.Send(e)
		offers := pair{e.Peer, e.Proc}
		if waiting := r.offers[offers]; e.Kind == "pull" && len(waiting) > 0 {
			r.waiting[offers] += max(0, e.Time-waiting[0])
			r.offers[offers] = waiting[1:]
		}
		return
	}
	p.Received++
	between := pair{e.Peer, e.Proc}
	if e.Kind == "offer" {
		r.offers[between] = append(r.offers[between], e.Time)
	}
	sent, ok := r.pairs.End(e)
	if !ok {
		return
	}
	began := min(sent.At, e.Time)                                         // clocks may disagree
	if charged && began > quiet && e.Kind != "data" && e.Kind != "pull" { // these answer at once
		r.sending[between] += began - quiet
	}
	if e.Kind == "data" {
		return // it takes as long as its bytes
	}
	took := e.Time - sent.At
	if best, known := r.quickest[between]; !known || took < best {
		r.quickest[between] = took
	}
	r.flights = append(r.flights, flight{between, took})
}
