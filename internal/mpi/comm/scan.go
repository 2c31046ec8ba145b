package comm

import "banyan/internal/runtime/engine"

// Scan leaves in recv the combination of the data of all ranks up to and
// including this one, in rank order. send may be recv.
func (c *Comm) Scan(send, recv []byte, op Op) *Plan {
	p := c.plan("Scan")
	if len(recv) != len(send) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	p.gives(engine.NoPeer, send)
	p.doublingScan(send, recv, op)
	return p
}

// doublingScan: after round k each member holds the combination of the 2^(k+1) ranks that end with
// itself.
//
//	⌈log2 n⌉ · (α + m β + m γ)
func (p *Plan) doublingScan(send, recv []byte, op Op) {
	p.copy(recv, send)
	acc, in := recv, p.scratch(len(recv))
	for d := 1; d < p.size(); d *= 2 {
		if p.shift(d, acc, in) {
			p.combine(op, in, acc)
			acc, in = in, acc
		}
	}
	p.copy(recv, acc)
}

// shift sends to the member d ahead and receives from the member d behind, if they exist. It tells
// whether it receives.
func (p *Plan) shift(d int, data, in []byte) bool {
	up, down := p.rank()+d, p.rank()-d
	if down >= 0 {
		p.receive(down, in)
	}
	if up < p.size() {
		p.send(up, data)
	}
	p.wait()
	return down >= 0
}
