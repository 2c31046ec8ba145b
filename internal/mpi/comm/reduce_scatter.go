package comm

import "banyan/internal/runtime/engine"

// ReduceScatter combines the members' data in rank order and leaves part i of the result in recv at
// rank i. The parts of send follow each other; counts[i] is the number of elements of the i-th part
// (nil: all are as long as recv). recv may be a part of send.
func (c *Comm) ReduceScatter(send, recv []byte, counts []int, op Op) *Plan {
	p := c.plan("Reduce_scatter")
	starts := p.numbers(0, p.size()+1)
	starts[0] = 0
	if counts != nil && len(counts) != p.size() {
		return p.fail(sizeError("the list of counts", len(counts), p.size()))
	}
	for i := range p.size() {
		n := len(recv)
		if counts != nil {
			n = counts[i] * op.Size
		}
		if n < 0 {
			return p.fail(sizeError("a part", n, 0))
		}
		starts[i+1] = starts[i] + n
	}
	if total := starts[p.size()]; len(send) != total {
		return p.fail(sizeError("the send buffer", len(send), total))
	}
	if own := starts[p.rank()+1] - starts[p.rank()]; len(recv) != own {
		return p.fail(sizeError("the receive buffer", len(recv), own))
	}
	p.gives(engine.NoPeer, send)
	switch {
	case p.size() == 1:
		p.copy(recv, send)
	case len(send) >= pairwiseReduceScatter:
		p.pairwiseReduceScatter(send, recv, starts, op)
	default:
		p.halvingReduceScatter(send, recv, starts, op)
	}
	return p
}

// pairwiseReduceScatter is the size, in bytes, from which on every part goes straight to its owner.
const pairwiseReduceScatter = 512 << 10
