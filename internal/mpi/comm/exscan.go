package comm

import "banyan/internal/runtime/engine"

// Exscan leaves in recv the combination of the data of all ranks before this one, in rank order. It
// doesn't change rank 0's recv. send may be recv.
func (c *Comm) Exscan(send, recv []byte, op Op) *Plan {
	p := c.plan("Exscan")
	if len(recv) != len(send) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	p.gives(engine.NoPeer, send)
	if p.size() > 1 {
		p.doublingExscan(send, recv, op)
	}
	return p
}

// doublingExscan doubles as doublingScan does. It keeps two combinations: with this rank's data and
// without.
//
//	⌈log2 n⌉ · (α + m β + 2 m γ)
func (p *Plan) doublingExscan(send, recv []byte, op Op) {
	m := len(send)
	with, in, before, spare := p.scratch(m), p.scratch(m), p.scratch(m), p.scratch(m)
	p.copy(with, send)
	for d := 1; d < p.size(); d *= 2 {
		if !p.shift(d, with, in) {
			continue
		}
		p.copy(spare, in)
		if d > 1 { // else no rank lies between
			p.combine(op, spare, before)
		}
		before, spare = spare, before
		p.combine(op, in, with)
		with, in = in, with
	}
	if p.rank() > 0 {
		p.copy(recv, before)
	}
}
