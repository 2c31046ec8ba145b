package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
)

// At a replica that follows, a receive of which the leader decides what it takes isn't posted
// before that is known. Then it is posted for just that message: for the next one of its source
// with its tag. A receive behind it that could take the same message waits with it. So each
// message goes to the same receive as at the leader:
//
//   - A receive that has a message at the leader is, or can be, posted here. For if an earlier one
//     that could have taken the message hadn't been decided there, that one would have got it.
//   - Two receives that could take the same message are posted in their order.
//
// For the first point a receive from a certain source with any tag is decided too, once the program
// has received from any source.

// heldReceive is a receive that isn't with matching yet.
type heldReceive struct {
	h      Handle
	takes  match.Envelope // which messages
	number uint64         // of one that isn't decided; else 0
}

// decide says what the receive takes.
func (w *heldReceive) decide(m matched) { w.takes.Src, w.takes.Tag, w.number = m.src, m.tag, 0 }

// overlap tells whether two receives could take the same message.
func overlap(a, b match.Envelope) bool {
	return a.Context == b.Context &&
		(a.Src == b.Src || a.Src == proto.AnyRank || b.Src == proto.AnyRank) &&
		(a.Tag == b.Tag || a.Tag == proto.AnyTag || b.Tag == proto.AnyTag)
}

func overlapsAny(list []heldReceive, e match.Envelope) bool {
	return slices.ContainsFunc(list, func(w heldReceive) bool { return overlap(w.takes, e) })
}

// heldBack gives a receive its number, if it is one that is decided. It tells whether the receive
// waits to be posted. Otherwise it has to be posted as e says. Contexts with odd numbers are those
// of collectives.
func (p *Process) heldBack(h Handle, r *request, e *match.Envelope) bool {
	o, w := p.order, heldReceive{h: h, takes: *e}
	if e.Context%2 == 1 || o.free {
		return false
	}
	if e.Src == proto.AnyRank || e.Tag == proto.AnyTag && (o.at.posted > 0 || o.threaded) {
		if !o.begun {
			p.beginDecisions("receives from any source")
		}
		p.number(&w)
	}
	if r.number = w.number; o.m.Leads() || w.number == 0 && !overlapsAny(o.held, w.takes) {
		*e = w.takes
		return false
	}
	o.held = append(o.held, w)
	r.held = true
	if err := p.receiveError(r.context, r.peer); err != nil {
		p.fail(h, r, err)
	}
	return true
}

// releaseHeld posts the receives that wait for nothing any more. At a leader these are all.
func (p *Process) releaseHeld() {
	o := p.order
	if len(o.held) == 0 {
		return
	}
	all := o.held
	o.held = nil
	var kept []heldReceive
	for _, w := range all {
		if !o.m.Leads() && (w.number != 0 || overlapsAny(kept, w.takes)) {
			kept = append(kept, w)
			continue
		}
		r := p.requests.get(w.h)
		r.held, r.number = false, w.number
		p.post(w.h, r, w.takes)
	}
	o.held = append(kept, o.held...)
}

// unpost takes a receive away from matching, or from those that wait to be posted.
func (p *Process) unpost(h Handle, r *request) {
	if !r.held {
		p.match.Cancel(r.posted)
		return
	}
	r.held = false
	p.order.held = slices.DeleteFunc(p.order.held, func(w heldReceive) bool { return w.h == h })
	p.releaseHeld()
}

// HoldsBack tells whether a receive waits to be posted that could take such a message.
func (p *Process) HoldsBack(context uint64, src proto.Rank, tag int32) bool {
	return p.order != nil && overlapsAny(p.order.held, match.Envelope{Context: context, Src: src, Tag: tag})
}
