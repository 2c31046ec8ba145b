package process

import (
	"banyan/internal/proto"
	"banyan/internal/wire"
)

// early is a message that came before its cause, out of a world that is ahead
// (see package causal). It waits until this process has made the sends that
// precede it.
type early struct {
	from    proto.Proc
	header  wire.Header
	payload []byte     // pooled
	until   proto.Time // of those that are late on purpose
}

func (p *Process) postpone(from proto.Proc, h *wire.Header, payload []byte, owned bool) {
	if !owned {
		payload = p.buffers.copyOf(payload)
	}
	p.early = append(p.early, early{from: from, header: *h, payload: payload})
}

// deliverEarly delivers what has got ready by a send. Messages of one channel get
// ready in their order, so that is kept.
func (p *Process) deliverEarly() {
	kept := p.early[:0]
	for i := range p.early {
		m := &p.early[i]
		if !p.clock.Ready(m.payload[len(m.payload)-p.clock.StampSize():]) {
			kept = append(kept, *m)
			continue
		}
		if !p.deliver(m.from, &m.header, m.payload, true) {
			p.buffers.put(m.payload)
		}
	}
	clear(p.early[len(kept):])
	p.early = kept
}

// reofferedEarly turns an offer that still waits to its new sender.
func (p *Process) reofferedEarly(from proto.Proc, h *wire.Header) {
	turn(p.early, from, h)
	if p.perturb != nil {
		turn(p.perturb.late, from, h)
	}
}

func turn(waiting []early, from proto.Proc, h *wire.Header) {
	for i := range waiting {
		m := &waiting[i]
		if m.header.Kind == wire.KindOffer && m.header.Seq == h.Seq &&
			m.header.Context == h.Context && m.header.Src == h.Src {
			m.from, m.header.ID, m.header.Offset = from, h.ID, h.Offset
		}
	}
}
