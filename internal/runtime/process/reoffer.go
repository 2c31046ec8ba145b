package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// alternative is the offer of a message that another sender has offered before, and
// lives, as far as is known here.
type alternative struct {
	from   proto.Proc
	header wire.Header
}

func (s *alternative) of(context uint64, src proto.Rank, seq uint64) bool {
	return s.header.Context == context && s.header.Src == src && s.header.Seq == seq
}

// redirected turns to a spare sender for a message whose first sender died.
func (p *Process) redirected(to proto.Proc, context, seq uint64) {
	src := p.cfg.Layout.Rank(to)
	for i := range p.alternatives {
		if s := &p.alternatives[i]; s.from == to && s.of(context, src, seq) {
			h := s.header
			p.alternatives = slices.Delete(p.alternatives, i, i+1)
			p.reoffered(to, &h)
			return
		}
	}
}

// dropAlternatives forgets the spare offers of a message that is here.
func (p *Process) dropAlternatives(context uint64, src proto.Rank, seq uint64) {
	if len(p.alternatives) > 0 {
		p.alternatives = slices.DeleteFunc(p.alternatives, func(s alternative) bool { return s.of(context, src, seq) })
	}
}

// reoffered turns to a new sender for a message whose earlier sender is dead, and
// fenced: nothing of that one reaches the buffer any more.
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
	found.from, found.offer = from, h.Offer()
	if r := p.requests.get(found.request); r != nil {
		p.pull(found, r)
	}
}
