package comm

// Barrier returns at no member before every member has called it.
func (c *Comm) Barrier() *Plan {
	p := c.plan("Barrier")
	if c.oversubscribed {
		p.gatheredBarrier()
	} else {
		p.disseminationBarrier()
	}
	return p
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
