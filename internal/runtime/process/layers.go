package process

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A process hears of one replica layer as long as all messages come from its own one: nothing
// precedes them that this process hasn't done. When a replica is substituted, or a rank has fewer
// replicas than another, messages come from a layer that may be ahead (package causal). They are
// marked, and so is all that is sent by those that have received such a message (mixed).
//
// In a program of one thread the clock tells which of them come before their cause. Where several
// threads communicate (concurrent) it can't:
//
//   - What threads have sent precedes what another thread sends in one replica's order, and not in
//     another's. Two threads may wait for each other's sends for ever.
//   - The clock counts all sends of a rank. It is satisfied when one thread has made as many as
//     another should have.
//
// A message for a receive that names its source is delivered then: no other can be meant. A receive
// from any source might take the wrong one, and is refused (decision 76).
//
// What such a process sends has a stamp that means nothing: it may ask for a send that waits for
// this very message. So the message is marked, and all that depends on it (decision 76). Nobody
// waits for its cause, and who has got it is refused receives from any source as well.
//
// # Limits
//
// That threads communicate is seen when two of their calls overlap. Threads that take turns under a
// lock of the program's (MPI_THREAD_SERIALIZED) aren't seen.

// ErrUnordered is wrapped by each UnorderedError.
var ErrUnordered = errors.New("nothing tells which message comes first")

// UnorderedError says that a receive or a probe from any source was refused.
type UnorderedError struct {
	Where string // where in the program the call is; "" if unknown
}

// Unwrap makes errors.Is(err, ErrUnordered) true.
func (e *UnorderedError) Unwrap() error { return ErrUnordered }

func (e *UnorderedError) Error() string {
	return "several threads of the program communicate, and this call receives from any source" + calledAt(e.Where) +
		" after a replica died, or where ranks have different numbers of replicas: it could take a message that comes before its cause. Name the source, or run it with --order leader"
}

// layers is what a process knows of the replica layers that it hears of.
type layers struct {
	first proto.Proc // the own layer's first process
	size  uint32     // how many processes the own layer has
	// mark is in the flags of its messages: MixedLayers if something that another layer did may
	// precede what it does next; CausesLost if nothing tells what does.
	mark uint8
}

func (p *Process) beginLayers() {
	l, self := p.cfg.Layout, p.cfg.Layout.Replica(p.cfg.Self)
	for q := range proto.Proc(l.Procs()) { // a layer's processes follow each other
		if l.Replica(q) == self {
			if p.layers.size == 0 {
				p.layers.first = q
			}
			p.layers.size++
		}
	}
	if p.cfg.Replacement { // its donor was of another layer
		p.mix(0)
	}
}

// news tells whether a message tells this process of layers what it hasn't known.
func (l *layers) news(from proto.Proc, h *wire.Header) bool {
	return h.Flags&^l.mark != 0 || l.mark == 0 && uint32(from-l.first) >= l.size
}

// mix notes that this process hears of another layer, and what the message that says so is marked
// with.
func (p *Process) mix(marks uint8) {
	l := &p.layers
	if l.mark |= marks | wire.MixedLayers; p.concurrent {
		l.mark |= wire.CausesLost
	}
	if l.mark&wire.CausesLost != 0 {
		p.special = true
		p.refuseOpen()
	}
}

// Concurrent says that several threads of the program communicate at the same time.
func (p *Process) Concurrent() {
	if p.concurrent || p.clock == nil {
		return
	}
	p.concurrent, p.special = true, true
	if p.layers.mark != 0 {
		p.mix(0)
	}
	p.deliverEarly()
}

// Threaded tells whether several threads of the program have communicated at the same time.
func (p *Process) Threaded() bool { return p.concurrent }

// refuses tells whether a call that receives from a source, perhaps any, is refused.
func (p *Process) refuses(context uint64, src proto.Rank) bool {
	return src == proto.AnyRank && p.layers.mark&wire.CausesLost != 0 && !p.Led() && p.healing.replay == nil && context%2 == 0
}

// refuseOpen ends the receives from any source that no message has matched.
func (p *Process) refuseOpen() {
	p.requests.each(func(h Handle, r *request) {
		if r.kind == receiving && r.arrival == (Handle{}) && p.refuses(r.context, r.peer) {
			p.fail(h, r, &UnorderedError{})
		}
	})
	p.Changes++
}
