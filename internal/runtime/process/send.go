package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
)

const (
	// EagerLimit is the largest message in bytes that is sent unasked. Larger ones are
	// offered, and travel when the receiver asks for them.
	EagerLimit = replica.EagerLimit

	// queueLimit is how many bytes may wait for one peer before sends to it stop completing
	// at once.
	queueLimit = 4 << 20
	// retainLimit is the same for bytes kept for other replicas.
	retainLimit = replica.RetainLimit
	// retainCost is about what a message of no bytes takes.
	retainCost = replica.RetainCost
)

// sends are the messages that the program sends.
type sends struct {
	messages    slab[message]
	transfers   slab[transfer]
	answered    int      // transfers to receivers that attend
	throttled   []Handle // sends that wait for room
	typ         uint32   // the number of the type of what is sent; 0: none is given
	retainLimit uint64   // the constant, but in tests
	frame       []byte   // of a message that isn't retained; reused
}

// message is a logical message from Send until no replica of its destination needs it any more.
// A free one is zero, except for what each send sets (settle).
type message struct {
	replica.Message
	request   Handle     // the program's, which a rendezvous completes
	wire      []byte     // the first frame's payload: the whole message or nothing, then the stamp
	pooled    bool       // wire goes back to the pool
	released  bool       // replication is done with it
	transfers int        // its data under way
	lost      proto.Rank // a rendezvous given up: which rank was lost
	typ       uint32     // of its data
}

// SetType gives what is sent from now on the number of a type, up to wire.MaxType; 0: none. The
// receiver is told it.
func (p *Process) SetType(t uint32) { p.sends.typ = t }

// Send starts sending data to a rank. The data of a message above EagerLimit stays borrowed
// until the request has ended; that of others is free when Send returns. The zero Handle says
// that the send is complete.
func (p *Process) Send(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	return p.start(context, dst, tag, data, 0, len(data) > EagerLimit, false)
}

// SendSynchronous starts sending data to a rank. The request ends when a receive has taken the
// message, at every live replica of the rank. Until then the data stays borrowed.
func (p *Process) SendSynchronous(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	return p.start(context, dst, tag, data, 0, true, true)
}

func (p *Process) start(context uint64, dst proto.Rank, tag int32, data []byte, number uint32, rendezvous, synchronous bool) Handle {
	if err := p.sendError(context, dst); err != nil {
		h, r := p.newRequest(sending)
		p.complete(h, r, err)
		return h
	}
	if p.healing.history != nil {
		if p.healing.replay != nil {
			return p.sendReplayed(context, dst, tag, data, synchronous)
		}
		p.noteSend(context, dst, tag, len(data))
	}
	switch {
	case dst == p.rank:
		return p.sendSelf(match.Envelope{Context: context, Src: p.rank, Tag: tag}, data, number, synchronous)
	case rendezvous:
		return p.sendOffer(context, dst, tag, data)
	case p.replicated:
		if p.sendRetained(context, dst, tag, data) {
			return Handle{}
		}
	default:
		h := p.nextHeader(wire.KindEager)
		h.Context, h.Src, h.Dst, h.Tag, h.Total = context, p.rank, dst, tag, uint64(len(data))
		h.Aux = int32(p.sends.typ)
		if c := p.contexts.recent[context%2]; c != nil && c.stream != nil && c.id == context {
			h.SetCompleted(c.stream.Completed())
		}
		h.SetNumber(number)
		p.send(proto.Proc(dst), h, data, 0)
		if p.hasRoom(dst) {
			return Handle{}
		}
	}
	h, r := p.newRequest(sending)
	r.peer, r.context, r.tag, r.buffer, r.number = dst, context, tag, data, uint64(number)
	p.sends.throttled = append(p.sends.throttled, h)
	return h
}

// sendOffer offers a message. Its data travels when the receiver asks for it.
func (p *Process) sendOffer(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	h, r := p.newRequest(sending)
	mh, m := p.sends.messages.take()
	m.request, m.Rendezvous, m.Body = h, true, data
	r.peer, r.context, r.tag, r.message, r.buffer = dst, context, tag, mh, data
	p.offering()
	p.replicate(mh, m, context, dst, tag, len(data), nil)
	return h
}

// sendRetained sends a message whole, and keeps a copy for the other replicas of its receiver,
// if they may need it. It reports whether there is room for more.
func (p *Process) sendRetained(context uint64, dst proto.Rank, tag int32, data []byte) (room bool) {
	var s replica.Sent
	ok := p.clock != nil && (p.order == nil || !p.holdsOutput())
	if ok {
		s, ok = p.replica.SendOne(context, dst)
	}
	if !ok {
		mh, m := p.sends.messages.take()
		p.replicate(mh, m, context, dst, tag, len(data), data)
		return p.hasRoom(dst)
	}
	n := len(data) + p.clock.StampSize()
	var first []byte
	if s.Pending() {
		mh, m := p.sends.messages.take()
		m.wire, m.pooled = p.buffers.get(n), true
		m.Context, m.Dst, m.Tag, m.Total, m.User = context, dst, tag, uint64(len(data)), mh.bits()
		m.typ = p.sends.typ
		p.replica.Retain(&s, &m.Message)
		first = m.wire
	} else {
		if cap(p.sends.frame) < n {
			p.sends.frame = make([]byte, 2*n)
		}
		first = p.sends.frame[:n]
	}
	copy(first, data)
	p.activeClock().Stamp(first[len(data):])
	h := p.nextHeader(wire.KindEager)
	h.Context, h.Seq, h.Src, h.Dst, h.Tag, h.Total = context, s.Seq, p.rank, dst, tag, uint64(len(data))
	h.Flags, h.Aux = p.layers.mark, int32(p.sends.typ)
	p.send(s.To, h, first, 0)
	if p.verifying != nil {
		p.verifySent(context, dst, s.Seq, false, tag, data)
	}
	if len(p.receives.early) > 0 {
		p.deliverEarly()
	}
	return p.retainsLittle() && p.net.Queued(s.To) <= queueLimit && !p.replica.Throttled()
}

// replicate hands a message to replication. Its first frame carries body and, with replicas, the
// stamp.
func (p *Process) replicate(mh Handle, m *message, context uint64, dst proto.Rank, tag int32, total int, body []byte) {
	m.Context, m.Dst, m.Tag = context, dst, tag
	m.Total, m.User = uint64(total), mh.bits()
	m.wire, m.typ = body, p.sends.typ
	if p.clock != nil {
		m.wire, m.pooled = p.buffers.get(len(body)+p.clock.StampSize()), true
		copy(m.wire, body)
		p.activeClock().Stamp(m.wire[len(body):])
	}
	if p.holdsOutput() {
		p.withhold(mh, m)
	} else {
		p.dispatch(m)
	}
	if len(p.receives.early) > 0 {
		p.deliverEarly()
	}
}

// sendError is why a send can't succeed, or nil.
func (p *Process) sendError(context uint64, dst proto.Rank) error {
	if p.inOrder(context) {
		return nil
	}
	if err := p.contextError(context); err != nil {
		return err
	}
	if p.lost(dst) {
		return &LostError{Rank: dst}
	}
	return p.collectiveError(context)
}

// inOrder tells whether a context was used last, is in order and no rank is lost: then no
// operation is hopeless. It is short, so that the compiler puts it in the path of each message.
func (p *Process) inOrder(context uint64) bool {
	c := p.contexts.recent[context%2]
	return c != nil && c.id == context && !c.shut && p.lifecycle.running()
}

// hasRoom tells whether a send to dst may complete at once.
func (p *Process) hasRoom(dst proto.Rank) bool {
	if !p.replicated {
		return p.net.Queued(proto.Proc(dst)) <= queueLimit
	}
	if !p.retainsLittle() || p.replica.Throttled() || p.order != nil && p.order.outbox.bytes > queueLimit {
		return false
	}
	for k, degree := 0, p.cfg.Layout.Degree(dst); k < degree; k++ {
		if p.net.Queued(p.cfg.Layout.Proc(dst, k)) > queueLimit {
			return false
		}
	}
	return true
}

// retainsLittle tells whether more may be kept for other replicas.
func (p *Process) retainsLittle() bool {
	n, bytes := p.replica.Retained()
	return uint64(n)*retainCost+bytes <= p.sends.retainLimit
}

// Retained is how many messages this process keeps for other replicas, and how many bytes.
func (p *Process) Retained() (messages int, bytes uint64) { return p.replica.Retained() }

// releaseThrottled completes the throttled sends for which there is room again.
func (p *Process) releaseThrottled() {
	if len(p.sends.throttled) == 0 {
		return
	}
	kept := p.sends.throttled[:0]
	for _, h := range p.sends.throttled {
		r := p.requests.get(h)
		if r == nil || r.done {
			continue
		}
		if !r.asksBack && p.hasRoom(r.peer) {
			p.complete(h, r, nil)
		} else {
			kept = append(kept, h)
		}
	}
	p.sends.throttled = kept
}

// runReplica carries out what replication asked for.
func (p *Process) runReplica() {
	// Carrying out an action never calls replication, so the list is complete when this starts.
	for i := range p.replicaOut {
		a := &p.replicaOut[i]
		switch a.Kind {
		case replica.Transmit:
			p.transmit(a.To, a.Message)
		case replica.Release:
			p.release(handleOf(a.Message.User))
		case replica.Acknowledge:
			// Records for one receiver follow each other: one frame for all.
			record := wire.Ack{Context: a.Context, Seq: a.Seq, Single: a.Single}
			if p.verifying != nil {
				record = p.verifying.digested(record, p.cfg.Layout.Rank(a.To))
			}
			p.scratch = wire.AppendAck(p.scratch, record)
			if i+1 == len(p.replicaOut) || p.replicaOut[i+1].Kind != replica.Acknowledge ||
				p.replicaOut[i+1].To != a.To || len(p.scratch)+wire.AckSize > 2048 {
				p.send(a.To, p.nextHeader(wire.KindAck), p.scratch, 0)
				p.scratch = p.scratch[:0]
			}
		case replica.Tell:
			p.sendNote(a)
		case replica.Report:
			wire.Received{Bytes: a.Seq}.Put(&p.header)
			p.send(a.To, &p.header, nil, 0)
		case replica.Handover, replica.Abandoned, replica.Healed:
			p.healingStep(a)
		case replica.Redirect:
			p.receives.redirects = append(p.receives.redirects, *a)
		}
		a.Message = nil
	}
	p.replicaOut = p.replicaOut[:0]
	for len(p.receives.redirects) > 0 { // may call replication
		a := p.receives.redirects[0]
		p.receives.redirects = p.receives.redirects[1:]
		p.redirected(a.To, a.Context, a.Seq)
	}
}

// transmit sends the first frame of a message, or of its offer.
func (p *Process) transmit(to proto.Proc, m *replica.Message) {
	h := p.nextHeader(wire.KindEager)
	h.Context, h.Seq, h.Tag, h.Total = m.Context, m.Seq, m.Tag, m.Total
	h.Src, h.Dst, h.Flags = p.rank, m.Dst, p.layers.mark
	if m.Rendezvous {
		wire.Offer{Sender: m.User, Memory: p.expose(m.Body)}.Put(h)
	}
	own := p.sends.messages.get(handleOf(m.User))
	h.Aux = int32(own.typ)
	p.send(to, h, own.wire, 0)
}

// release notes that replication is done with a message.
func (p *Process) release(mh Handle) {
	if m := p.sends.messages.get(mh); m != nil {
		m.released = true
		p.settle(mh, m)
	}
}

// settle forgets a message that is released and no longer borrowed.
func (p *Process) settle(mh Handle, m *message) {
	if !m.released || m.transfers > 0 {
		return
	}
	if m.pooled {
		p.buffers.put(m.wire)
	}
	if m.Rendezvous {
		p.attention.offers--
		if r := p.requests.get(m.request); r != nil {
			var err error
			if p.lost(m.Dst) { // nobody can tell that a rank whose loss doesn't show hasn't taken it
				err = &LostError{Rank: m.Dst}
			}
			p.complete(m.request, r, err)
		}
		*m = message{}
	}
	m.wire, m.pooled, m.released = nil, false, false
	p.sends.messages.put(mh)
}
