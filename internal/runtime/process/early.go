package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// early is a message that came before its cause, from a replica layer that is ahead (see package
// causal). It waits until this process has made the sends that precede it, and those that
// precede an earlier message of its channel: the copies of the two may come from different
// replicas, which have heard different things before. Where several threads of the program
// communicate none waits, and none that depends on what these have sent (layers.go). In a program
// of one thread it must: such a program may wait for one of several receives, and would see them
// end in an order that is impossible. In leader order none waits either: a sibling is ahead of the
// leader by what needs no decision, so the leader makes the sends that precede the message before
// it asks what has come. And they could wait for ever, where threads of the sender have sent and
// received.
type early struct {
	from    proto.Proc
	header  wire.Header
	payload []byte     // pooled
	until   proto.Time // of messages that are late on purpose (perturb.go)
}

// postponed keeps a message for later that is the next of its channel, or tells that it needn't
// wait.
func (p *Process) postponed(from proto.Proc, h *wire.Header, f *payload) bool {
	if p.due(h, f.bytes) && !precededIn(h, p.receives.early) {
		return false
	}
	p.receives.early = append(p.receives.early, early{from: from, header: *h, payload: f.keep(&p.buffers, len(f.bytes))})
	return true
}

// due tells whether a message may be delivered, if it is the next of its channel.
func (p *Process) due(h *wire.Header, payload []byte) bool {
	return p.concurrent || p.Begun() || p.thinned.shown || h.Flags&wire.CausesLost != 0 || p.clock.Ready(payload)
}

// precededIn tells whether messages of the same channel wait.
func precededIn(h *wire.Header, waiting []early) bool {
	for i := range waiting {
		if m := &waiting[i].header; m.Src == h.Src && m.Context == h.Context {
			return true
		}
	}
	return false
}

// deliverEarly delivers messages that a send or another copy has made ready, each channel's in
// their order.
func (p *Process) deliverEarly() {
	kept := p.receives.early[:0]
	for i := range p.receives.early {
		m := &p.receives.early[i]
		if !p.due(&m.header, m.payload) || precededIn(&m.header, kept) {
			kept = append(kept, *m)
			continue
		}
		f := payload{m.payload, ownedByFrame}
		p.deliver(m.from, &m.header, &f)
		f.release(&p.buffers)
	}
	clear(p.receives.early[len(kept):])
	p.receives.early = kept
}

// duplicateArrived takes another copy of a message. Its cause may be less than that of the copy
// that waits.
func (p *Process) duplicateArrived(h *wire.Header, payload []byte) {
	if p.perturb != nil {
		p.lowerCause(p.perturb.late, h, payload)
	}
	if len(p.receives.early) > 0 && p.lowerCause(p.receives.early, h, payload) {
		p.deliverEarly()
	}
}

// lowerCause gives a waiting message the stamp of another copy if that asks for less. One whose
// stamp means nothing asks for nothing.
func (p *Process) lowerCause(waiting []early, h *wire.Header, payload []byte) (lowered bool) {
	for i := range waiting {
		m := &waiting[i]
		if m.header.Seq != h.Seq || m.header.Src != h.Src || m.header.Context != h.Context {
			continue
		}
		if h.Flags&^m.header.Flags&wire.CausesLost != 0 {
			m.header.Flags |= h.Flags
			p.mix(h.Flags)
			return true
		}
		if lowered = p.clock.Sends(payload) < p.clock.Sends(m.payload); lowered {
			size := p.clock.StampSize()
			copy(m.payload[len(m.payload)-size:], payload[len(payload)-size:])
		}
		break
	}
	return lowered
}

// reofferedEarly turns an offer that still waits to its new sender.
func (p *Process) reofferedEarly(from proto.Proc, h *wire.Header) {
	redirectOffer(p.receives.early, from, h)
	if p.perturb != nil {
		redirectOffer(p.perturb.late, from, h)
	}
}

// redirectOffer gives a waiting offer its new sender.
func redirectOffer(waiting []early, from proto.Proc, h *wire.Header) {
	for i := range waiting {
		m := &waiting[i]
		if m.header.Kind == wire.KindOffer && m.header.Seq == h.Seq &&
			m.header.Context == h.Context && m.header.Src == h.Src {
			m.from = from
			h.Offer().Put(&m.header)
		}
	}
}
