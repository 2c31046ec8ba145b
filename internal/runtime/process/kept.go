package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/order"
)

// A leader keeps its decisions for the siblings with which it shares memory
// (transport.Preserver). They find them there whatever becomes of the leader, and look when they
// stop following it: when they hear of its death, or of a claim to lead, and before one of them
// gives its state away. So what depends on a decision needn't wait for them, and they can be told
// of many at once.
//
// A sibling on another host is told, and answers, before anything leaves.

// keepDecisions keeps for the siblings what they aren't known to know.
func (p *Process) keepDecisions() {
	o := p.order
	if p.preserver == nil {
		return
	}
	for k := range p.cfg.Layout.Degree(p.rank) {
		number, records := o.m.Unkept(k)
		if len(records) == 0 {
			continue
		}
		q := p.cfg.Layout.Proc(p.rank, k)
		p.preserver.Release(q, o.m.Knows(k))
		for _, r := range records {
			if !p.preserver.Keep(q, number, r) {
				break
			}
			o.m.Kept(k, number)
			number++
		}
	}
	o.keeps = o.m.Stable() == o.m.Len()
}

// readKept takes in what another replica of this rank has kept for this one; the last time before
// this one stops hearing it.
func (p *Process) readKept(q proto.Proc, last bool) {
	if p.order == nil || p.preserver == nil || p.cfg.Layout.Rank(q) != p.rank {
		return
	}
	msg := order.Message{Kind: order.Decided}
	p.preserver.Kept(q, last, func(number uint64, record []byte) {
		if len(msg.Records) == 0 {
			msg.First = number
		}
		if number == msg.First+uint64(len(msg.Records)) {
			msg.Records = append(msg.Records, slices.Clone(record))
		}
	})
	if len(msg.Records) > 0 {
		p.takeDecisions(q, msg)
	}
}

// readLeader takes in what the leader has kept, before this process gives its state away.
func (p *Process) readLeader() {
	if p.order == nil {
		return
	}
	if leader, ok := p.order.m.Leader(); ok {
		p.readKept(p.cfg.Layout.Proc(p.rank, leader), false)
	}
}
