package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/wire"
)

// arrival is a message that has come (its body or its offer) and is not yet in
// a buffer of the program.
type arrival struct {
	envelope match.Envelope
	total    uint64
	body     []byte // eager: pooled
	stamp    []byte // with replicas: pooled
	// A rendezvous:
	offered  bool
	from     proto.Proc // who offers it now
	senderID uint64     // the sender's handle
	seq      uint64
	self     Handle
	request  Handle // what it is bound to; zero while unexpected
	received uint64
}

// Receive posts a receive. src and tag may be wildcards. The buffer stays
// borrowed until the request has ended.
func (p *Process) Receive(context uint64, src proto.Rank, tag int32, buffer []byte) Handle {
	h, r := p.newRequest(receiving)
	r.buffer, r.context, r.peer = buffer, context, src
	r.envelope = match.Envelope{Context: context, Src: src, Tag: tag}
	if token, ok := p.match.Post(r.envelope, h.index); ok {
		ah, a := p.arrivals.at(token)
		p.accept(h, r, ah, a)
		return h
	}
	if err := p.hopelessReceive(context, src); err != nil {
		p.match.Cancel(h.index)
		p.complete(h, r, err)
	}
	return h
}

// Probe looks for a message that has arrived and fits, without taking it. The
// error says why none can come any more.
func (p *Process) Probe(context uint64, src proto.Rank, tag int32) (Status, bool, error) {
	token, ok := p.match.Probe(match.Envelope{Context: context, Src: src, Tag: tag})
	if !ok {
		return Status{}, false, p.hopelessReceive(context, src)
	}
	_, a := p.arrivals.at(token)
	return a.status(), true, nil
}

func (a *arrival) status() Status {
	return Status{Source: a.envelope.Src, Tag: a.envelope.Tag, Bytes: int(a.total)}
}

// accept brings an arrival and the receive that matched it together.
func (p *Process) accept(h Handle, r *request, ah Handle, a *arrival) {
	r.status, r.stamp = a.status(), a.stamp
	a.stamp = nil
	if a.offered {
		a.request, r.arrival = h, ah
		if p.told[a.from] { // a substitute offers it again, if there is one
			if err := p.hopelessReceive(a.envelope.Context, a.envelope.Src); err != nil {
				p.finishRendezvous(a, err)
			}
			return
		}
		p.pull(a, r)
		return
	}
	p.fill(h, r, a.body)
	p.dropArrival(ah, a)
}

// fill ends a receive with the bytes of a message.
func (p *Process) fill(h Handle, r *request, body []byte) {
	if copy(r.buffer, body) < len(body) {
		p.complete(h, r, ErrTruncated)
		return
	}
	p.complete(h, r, nil)
}

// pull asks the present sender of an offered message for its data.
func (p *Process) pull(a *arrival, r *request) {
	h := p.nextHeader(wire.KindPull)
	h.ID, h.Offset = a.senderID, a.self.bits()
	a.received = 0
	if a.total <= uint64(len(r.buffer)) {
		p.send(a.from, h, nil, 0)
		return
	}
	h.Flags = discard
	p.send(a.from, h, nil, 0)
	p.finishRendezvous(a, ErrTruncated)
}

// refuse lets the sender of an offer go that nobody will receive.
func (p *Process) refuse(a *arrival) {
	h := p.nextHeader(wire.KindPull)
	h.ID, h.Offset, h.Flags = a.senderID, a.self.bits(), discard
	p.send(a.from, h, nil, 0)
	p.finishRendezvous(a, nil)
}

// finishRendezvous acknowledges a rendezvous and ends its receive.
func (p *Process) finishRendezvous(a *arrival, err error) {
	p.replica.Completed(a.envelope.Context, a.envelope.Src, a.seq)
	if p.cfg.Layout.Degree > 1 {
		p.flushAcks() // a sender's program may be waiting for it
	}
	if r := p.requests.get(a.request); r != nil {
		p.complete(a.request, r, err)
	}
	p.dropArrival(a.self, a)
}

// dropArrival forgets an arrival and what it holds.
func (p *Process) dropArrival(ah Handle, a *arrival) {
	p.buffers.put(a.body)
	p.buffers.put(a.stamp)
	a.body, a.stamp = nil, nil
	p.arrivals.put(ah)
}

// messageArrived routes an eager message or an offer: replication first, then
// causality, then matching. An owned payload becomes the callee's to give back
// to the pool.
func (p *Process) messageArrived(from proto.Proc, h *wire.Header, payload []byte, owned bool) {
	keep := false
	defer func() {
		if owned && !keep {
			p.buffers.put(payload)
		}
	}()
	if h.Src != p.cfg.Layout.Rank(from) || h.Dst != p.rank || len(payload) != p.firstFrame(h) {
		return // not this process's: a peer that misroutes harms itself only
	}
	offered := h.Kind == wire.KindOffer
	switch p.replica.Arrive(from, h.Context, h.Seq, offered) {
	case replica.Accept:
		if p.clock != nil && !p.clock.Ready(payload[len(payload)-p.clock.StampSize():]) {
			keep = true
			p.postpone(from, h, payload, owned)
			break
		}
		keep = p.deliver(from, h, payload, owned)
	case replica.Reoffer:
		p.reoffered(from, h)
	}
	if p.replica.AcksOwed() >= acksOwedLimit {
		p.flushAcks()
	}
}

// firstFrame is how long the payload of a message's first frame is.
func (p *Process) firstFrame(h *wire.Header) int {
	n := 0
	if h.Kind == wire.KindEager {
		n = int(h.Total)
	}
	if p.clock != nil {
		n += p.clock.StampSize()
	}
	return n
}

// deliver matches a message new to this process and reports whether it kept
// the payload.
func (p *Process) deliver(from proto.Proc, h *wire.Header, payload []byte, owned bool) bool {
	ah, a := p.arrivals.take()
	e := match.Envelope{Context: h.Context, Src: h.Src, Tag: h.Tag}
	*a = arrival{envelope: e, total: h.Total, self: ah}
	if h.Kind == wire.KindOffer {
		a.offered, a.from, a.senderID, a.seq = true, from, h.ID, h.Seq
		if p.finishing {
			p.refuse(a)
			return false
		}
	}
	if p.clock != nil && h.Kind != wire.KindInvalid {
		end := len(payload) - p.clock.StampSize()
		a.stamp = p.buffers.copyOf(payload[end:])
		payload = payload[:end]
	}
	token, matched := p.match.Arrive(e, ah.index)
	if !matched {
		p.Changes++
	}
	switch {
	case matched && a.offered:
		rh, r := p.requests.at(token)
		p.accept(rh, r, ah, a)
	case matched:
		rh, r := p.requests.at(token)
		r.status, r.stamp = a.status(), a.stamp
		a.stamp = nil
		p.arrivals.put(ah)
		p.fill(rh, r, payload)
	case !a.offered && owned:
		a.body = payload
		return true
	case !a.offered:
		a.body = p.buffers.copyOf(payload)
	}
	return false
}

// reoffered turns to a new sender for a message whose first sender died.
func (p *Process) reoffered(from proto.Proc, h *wire.Header) {
	var found *arrival
	p.arrivals.each(func(_ Handle, a *arrival) {
		if a.offered && a.seq == h.Seq && a.envelope.Context == h.Context && a.envelope.Src == h.Src {
			found = a
		}
	})
	if found == nil {
		p.reofferedEarly(from, h)
		return
	}
	// Who offers in its place knows that the earlier sender is dead. From here
	// on nothing of that one may reach the buffer.
	earlier := found.from
	found.from, found.senderID = from, h.ID
	p.Evidence(earlier)
	if r := p.requests.get(found.request); r != nil {
		p.pull(found, r)
	}
}

// place is where a fragment belongs; nil if its receive has ended meanwhile, or
// if the fragment isn't wanted at all.
func (p *Process) place(from proto.Proc, h *wire.Header) []byte {
	a := p.wanted(from, h)
	if a == nil {
		return nil
	}
	r := p.requests.get(a.request)
	if r == nil || r.done {
		return nil
	}
	return r.buffer[h.Offset : h.Offset+uint64(h.Length)]
}

// wanted is the rendezvous that a fragment belongs to, or nil.
func (p *Process) wanted(from proto.Proc, h *wire.Header) *arrival {
	a := p.arrivals.get(handleOf(h.ID))
	if a == nil || !a.offered || a.from != from || h.Total != a.total ||
		h.Offset > a.total || a.total-h.Offset < uint64(h.Length) {
		return nil
	}
	return a
}

// fragment counts a fragment that is in its place.
func (p *Process) fragment(from proto.Proc, h *wire.Header) {
	a := p.wanted(from, h)
	if a == nil {
		return
	}
	if h.Flags&withdrawn != 0 {
		p.finishRendezvous(a, &LostError{proto.Rank(h.Aux)})
		return
	}
	a.received += uint64(h.Length)
	if a.received == a.total {
		p.finishRendezvous(a, nil)
	}
}

// sendSelf brings a message of this rank to itself. Every replica does so on
// its own; neither replication nor causality has a part in it.
func (p *Process) sendSelf(context uint64, tag int32, data []byte) {
	h := wire.Header{Context: context, Src: p.rank, Dst: p.rank, Tag: tag, Total: uint64(len(data))}
	p.deliver(p.cfg.Self, &h, data, false)
}
