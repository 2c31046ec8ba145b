package process

import (
	"math"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// The program may take a send back (MPI_Cancel) as long as no receive has matched its message.
// Only the receiver knows whether one has. So the sender asks for the message back (KindRetract),
// behind the message on the same stream: the message is there when the question comes. The
// receiver's engine drops it if it is still unexpected, and answers (KindRetracted). Its program
// needn't do anything. The receiver decides in one step, so either the cancellation succeeds or
// the send does.
//
//   - An offer is named by its sender's handle. Its request is the program's: it ends with
//     ErrCancelled, or as it would have.
//   - An eager message is named by a number that its send has given it (SendNumbered). Its send has
//     ended mostly, so a request of its own waits for the answer (Retract).
//   - A matched probe has matched the message, but of an offer the data may stay with the sender
//     until the program receives it. The program must not wait for that any more, so the sender
//     keeps a copy.
//
// A death ends the wait: the send was complete, or fails as it would have. In jobs with replicas
// nothing is taken back: whether a message is matched already depends on timing, and may differ
// from replica to replica.

// SendNumbered is Send for a message that Retract may ask back by its number.
func (p *Process) SendNumbered(context uint64, dst proto.Rank, tag int32, data []byte, number uint32) Handle {
	return p.start(context, dst, tag, data, number, len(data) > EagerLimit, false)
}

// CancelSend asks the message of a send back that hasn't ended. If it comes back the request ends
// with ErrCancelled, and otherwise as it would have.
func (p *Process) CancelSend(h Handle) {
	r := p.requests.get(h)
	if r == nil || r.done || r.kind != sending || r.asksBack || p.replicated {
		return
	}
	switch m := p.sends.messages.get(r.message); {
	case r.peer == p.rank:
		p.cancelOwn(h, r)
	case r.message == Handle{}:
		if r.number != 0 {
			p.askBack(h, r, wire.Retract{Message: r.number, Eager: true})
		}
	case m != nil && m.transfers == 0 && !m.released:
		p.askBack(h, r, wire.Retract{Message: r.message.bits()})
	}
}

// Retract asks an eager message back that has left, by its number. The request ends with
// ErrCancelled if the message comes back, and without an error if not. The zero Handle says that it
// doesn't.
func (p *Process) Retract(dst proto.Rank, number uint32) Handle {
	if p.replicated || dst != p.rank && (p.lost(dst) || !p.present(proto.Proc(dst))) {
		return Handle{}
	}
	if dst == p.rank {
		if p.takeBack(proto.Proc(dst), wire.Retract{Message: uint64(number), Eager: true}) != wire.Withdrawn {
			return Handle{}
		}
		h, r := p.newRequest(retracting)
		p.complete(h, r, ErrCancelled)
		return h
	}
	h, r := p.newRequest(retracting)
	r.peer, r.context = dst, noContext
	p.askBack(h, r, wire.Retract{Message: uint64(number), Eager: true})
	return h
}

// noContext is the context of what belongs to none.
const noContext = math.MaxUint64

func (p *Process) askBack(h Handle, r *request, f wire.Retract) {
	r.asksBack, f.Request = true, h.bits()
	f.Put(&p.header)
	p.send(proto.Proc(r.peer), &p.header, nil, 0)
}

// cancelOwn cancels a synchronous send of this process to itself. The message is a copy, so a
// matched probe ends the send.
func (p *Process) cancelOwn(h Handle, r *request) {
	p.receives.arrivals.each(func(ah Handle, a *arrival) {
		if a.sender != h {
			return
		}
		a.sender = Handle{}
		if a.taken {
			p.complete(h, r, nil)
			return
		}
		p.drop(ah, a)
		p.complete(h, r, ErrCancelled)
	})
}

// retractArrived answers a sender that wants a message back.
func (p *Process) retractArrived(from proto.Proc, h *wire.Header) {
	f := h.Retract()
	wire.Retracted{Request: f.Request, Outcome: p.takeBack(from, f)}.Put(&p.header)
	p.send(from, &p.header, nil, 0)
}

// takeBack drops a message that nothing has matched, and says what has become of it.
func (p *Process) takeBack(from proto.Proc, f wire.Retract) wire.Outcome {
	found := Handle{}
	p.receives.arrivals.each(func(ah Handle, a *arrival) {
		if f.Eager && !a.offered && a.number != 0 && uint64(a.number) == f.Message && a.envelope.Src == p.cfg.Layout.Rank(from) ||
			!f.Eager && a.offered && a.offer.Sender == f.Message && a.from == from {
			found = ah
		}
	})
	a := p.receives.arrivals.get(found)
	switch {
	case a == nil || p.replicated || a.request != (Handle{}):
		return wire.Matched
	case a.taken && a.offered:
		return wire.Probed
	case a.taken:
		return wire.Matched
	}
	p.drop(found, a)
	return wire.Withdrawn
}

// drop forgets an unexpected message.
func (p *Process) drop(ah Handle, a *arrival) {
	p.match.DropUnexpected(func(token uint32) bool { return token == ah.index })
	if a.offered {
		p.finishRendezvous(a, nil)
	} else {
		p.dropArrival(ah, a)
	}
}

// retractedArrived takes an answer.
func (p *Process) retractedArrived(from proto.Proc, h *wire.Header) {
	f := h.Retracted()
	rh := handleOf(f.Request)
	r := p.requests.get(rh)
	if r == nil || r.done || !r.asksBack || r.peer != p.cfg.Layout.Rank(from) {
		return // a death has ended it, or the receiver has had the data first
	}
	r.asksBack = false
	m := p.sends.messages.get(r.message)
	switch {
	case r.message == Handle{} && f.Outcome == wire.Withdrawn:
		p.complete(rh, r, ErrCancelled)
	case r.message == Handle{}:
		p.complete(rh, r, nil) // the receiver has all that was sent before
	case m == nil || m.released || m.transfers > 0:
	case f.Outcome == wire.Withdrawn:
		p.complete(rh, r, ErrCancelled)
		p.replica.Delivered(&m.Message, from, &p.replicaOut)
		p.runReplica()
	case f.Outcome == wire.Probed:
		m.wire, m.pooled = p.buffers.copyOf(m.Body), true // no frame carries it: settle gives it back
		m.Body = m.wire
		p.revoke()
		p.complete(rh, r, nil)
	}
}

// endRetracts ends what waits for answers of a process that is gone: what has been sent to it has
// been sent.
func (p *Process) endRetracts(peer proto.Rank) {
	p.requests.each(func(h Handle, r *request) {
		switch {
		case r.done || !r.asksBack || r.peer != peer:
		case r.kind == retracting:
			p.complete(h, r, nil)
		default:
			r.asksBack = false
		}
	})
}
