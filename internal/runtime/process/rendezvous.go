package process

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/wire"
)

// A large message is offered. Its receiver pulls the data when there is a buffer for it: it
// reads the sender's memory (direct.go), or asks for fragments (transfer.go).

// deliverOffer matches an offer new to this process.
func (p *Process) deliverOffer(from proto.Proc, h *wire.Header, e match.Envelope, stamp []byte) {
	ah, a := p.newArrival(e, h.Total)
	a.offered, a.from, a.offer, a.seq = true, from, h.Offer(), h.Seq
	a.stamp, a.typ = append(a.stamp, stamp...), uint32(h.Aux)
	if p.lifecycle.finishing {
		p.refuse(a)
		return
	}
	if p.healing.history != nil {
		a.logged = p.healing.history.offer(e, h.Total, a.typ, stamp)
	}
	if token, ok := p.match.Claim(e); ok {
		rh, r := p.requests.at(token)
		p.accept(rh, r, ah, a)
		return
	}
	if p.contexts.revoked > 0 && p.belated(from, h.Context) {
		p.refuse(a)
		return
	}
	p.match.Keep(e, ah.index)
	p.Changes++
}

// pull gets as much of the data of an offered message as the buffer holds, from its present
// sender.
func (p *Process) pull(a *arrival, r *request) {
	a.received, a.wanted = 0, min(a.total, uint64(len(r.buffer)))
	switch {
	case a.wanted == 0:
		p.releaseSender(a)
		p.endRendezvous(a)
	case a.wanted >= streamMin && p.both(a):
		a.asked = true
		p.attention.asked++
		p.ask(a)
	case !p.read(a, r):
		p.ask(a)
	}
}

// ask asks the sender for the data.
func (p *Process) ask(a *arrival) {
	a.received = 0
	wire.Pull{Sender: a.offer.Sender, Receiver: a.self.bits(), Wanted: a.wanted}.Put(&p.header)
	p.send(a.from, &p.header, nil, 0)
}

// releaseSender tells the sender that no data is wanted, or none any more.
func (p *Process) releaseSender(a *arrival) {
	if a.from == proto.NoProc {
		return // an acknowledgement tells any sender that offers it later
	}
	wire.Pull{Sender: a.offer.Sender, Receiver: a.self.bits(), Wanted: a.wanted, Discard: true}.Put(&p.header)
	p.send(a.from, &p.header, nil, 0)
}

// endRendezvous ends a rendezvous when all has come that the receive has room for.
func (p *Process) endRendezvous(a *arrival) {
	if r := p.requests.get(a.request); r != nil && a.wanted < a.total {
		p.finishRendezvous(a, truncated(r.status, r.buffer))
		return
	}
	p.finishRendezvous(a, nil)
}

// refuse releases the sender of an offer that no receive will take.
func (p *Process) refuse(a *arrival) {
	p.releaseSender(a)
	p.finishRendezvous(a, nil)
}

// finishRendezvous acknowledges a rendezvous and ends its receive. A zero-copy receive ends
// alike.
func (p *Process) finishRendezvous(a *arrival, err error) {
	if a.zeroCopy {
		p.endZeroCopy(a, err)
		return
	}
	if a.logged > 0 && (err == nil || errors.Is(err, ErrTruncated)) {
		if r := p.requests.get(a.request); r != nil {
			p.healing.history.received(a.logged, r.buffer[:a.wanted])
		}
	}
	p.receives.alternatives.drop(a.envelope.Context, a.envelope.Src, a.seq)
	if p.verifying != nil && err == nil {
		p.verifyCompleted(a)
	}
	p.replica.Completed(a.envelope.Context, a.envelope.Src, a.seq)
	if p.cfg.Layout.Replicated() {
		p.flushAcks() // a sender's program may be waiting for it
	}
	if p.verifying != nil && len(p.healing.preparedFor) == 0 {
		p.verifying.singles = p.verifying.singles[:0]
	}
	if r := p.requests.get(a.request); r != nil {
		p.complete(a.request, r, err)
	}
	p.dropArrival(a.self, a)
}

// fragmentDest is where a fragment belongs; nil if its receive has ended meanwhile, or if the
// fragment isn't wanted at all.
func (p *Process) fragmentDest(from proto.Proc, h *wire.Header) []byte {
	a := p.wanted(from, h)
	if a == nil {
		return nil
	}
	r := p.requests.get(a.request)
	if r == nil || r.done {
		return nil
	}
	at := h.Fragment().Offset
	return r.buffer[at : at+uint64(h.Length)]
}

// wanted is the rendezvous that a fragment belongs to, or nil.
func (p *Process) wanted(from proto.Proc, h *wire.Header) *arrival {
	f := h.Fragment()
	a := p.receives.arrivals.get(handleOf(f.Receiver))
	if a == nil || !a.offered || a.from != from || f.Wanted != a.wanted ||
		f.Offset > a.wanted || a.wanted-f.Offset < uint64(h.Length) {
		return nil
	}
	return a
}

// fragment counts a fragment whose bytes are in the buffer.
func (p *Process) fragment(from proto.Proc, h *wire.Header) {
	a := p.wanted(from, h)
	if a == nil {
		return
	}
	if f := h.Fragment(); f.Withdrawn {
		if f.Lost == proto.AnyRank {
			p.finishRendezvous(a, ErrRevoked)
			return
		}
		p.finishRendezvous(a, &LostError{Rank: f.Lost})
		return
	}
	a.received += uint64(h.Length)
	p.graduals.upto(a.request, min(a.received, a.wanted)) // a faulty sender may repeat itself
	if a.received == a.wanted {
		p.endRendezvous(a)
	}
}
