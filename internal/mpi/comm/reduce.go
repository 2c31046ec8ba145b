package comm

import "banyan/internal/runtime/commons"

// Reduce combines the members' data in rank order and leaves the result in recv at the root. It is
// the same for every root. send and recv hold the same number of whole elements. recv is used at
// the root only, where send may be recv.
func (c *Comm) Reduce(send, recv []byte, op Op, root int) *Plan {
	p := c.plan("Reduce")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if p.rank() == root && len(recv) != len(send) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	p.gives(root, send)
	switch {
	case c.resilience.on:
		p.survive(small{kind: commons.Reduce, root: root, send: send, recv: recv, op: op})
	case !op.Foreign && c.isSmall(len(send), p.size()*len(send)):
		p.small = small{kind: commons.Reduce, root: root, send: send, recv: recv, op: op}
	default:
		p.reduceSteps(send, recv, op, root)
	}
	return p
}

// reduceSteps is Reduce by messages.
func (p *Plan) reduceSteps(send, recv []byte, op Op, root int) {
	switch f := fold(p.size(), p.rank()); {
	case p.size() == 1:
		p.copy(recv, send)
	case len(send) >= halvedReduce && len(send)/op.Size >= f.power:
		p.halvingReduce(f, send, recv, op, root)
	default:
		p.binomialReduce(send, recv, op, root)
	}
}

// halvedReduce is the size, in bytes, from which on the data is scattered.
const halvedReduce = 32 << 10
