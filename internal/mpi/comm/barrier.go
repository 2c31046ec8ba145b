package comm

import "banyan/internal/runtime/commons"

// Barrier returns at no member before every member has called it.
func (c *Comm) Barrier() *Plan {
	p := c.plan("Barrier")
	switch {
	case c.resilience.on:
		p.survive(small{kind: commons.Barrier})
	case c.isSmall(0, 0):
		p.small.kind = commons.Barrier
	default:
		p.barrierSteps()
	}
	return p
}

// barrierSteps is Barrier by messages.
func (p *Plan) barrierSteps() {
	if p.comm.oversubscribed {
		p.gatheredBarrier()
	} else {
		p.disseminationBarrier()
	}
}

// disseminationBarrier: in round k each member tells the member 2^k ahead and hears from the member
// 2^k behind.
//
//	⌈log2 n⌉ · α
func (p *Plan) disseminationBarrier() {
	n := p.size()
	for d := 1; d < n; d *= 2 {
		p.exchange((p.rank()+d)%n, nil, (p.rank()-d+n)%n, nil)
	}
}
