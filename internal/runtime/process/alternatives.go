package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// alternative is another live sender's offer of a message that was offered before.
type alternative struct {
	from   proto.Proc
	header wire.Header
}

func (s *alternative) of(context uint64, src proto.Rank, seq uint64) bool {
	return s.header.Context == context && s.header.Src == src && s.header.Seq == seq
}

type alternatives []alternative

// take removes and gives a sender's offer of a message.
func (all *alternatives) take(from proto.Proc, context uint64, src proto.Rank, seq uint64) (h wire.Header, ok bool) {
	for i := range *all {
		if s := &(*all)[i]; s.from == from && s.of(context, src, seq) {
			h = s.header
			*all = slices.Delete(*all, i, i+1)
			return h, true
		}
	}
	return h, false
}

// drop forgets all offers of a message.
func (all *alternatives) drop(context uint64, src proto.Rank, seq uint64) {
	if len(*all) > 0 {
		*all = slices.DeleteFunc(*all, func(s alternative) bool { return s.of(context, src, seq) })
	}
}

// dropFrom forgets all offers of a sender.
func (all *alternatives) dropFrom(q proto.Proc) {
	*all = slices.DeleteFunc(*all, func(s alternative) bool { return s.from == q })
}

// redirected turns to an alternative sender of a message whose first sender died.
func (p *Process) redirected(to proto.Proc, context, seq uint64) {
	if h, ok := p.receives.alternatives.take(to, context, p.cfg.Layout.Rank(to), seq); ok {
		p.reoffered(to, &h)
	}
}

// reoffered turns to a new sender of a message whose earlier sender is dead. The transport is
// fenced against that one: nothing of it reaches the buffer any more.
func (p *Process) reoffered(from proto.Proc, h *wire.Header) {
	var found *arrival
	p.receives.arrivals.each(func(_ Handle, a *arrival) {
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
