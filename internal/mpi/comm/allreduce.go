package comm

import (
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/engine"
)

// Allreduce combines the members' data in rank order and leaves the result in
// recv at every member, the same to the bit. send may be recv.
//
// All algorithms combine blocks of neighbouring ranks only, so the order is kept.
func (c *Comm) Allreduce(send, recv []byte, op Op) *Plan {
	p := c.plan("Allreduce")
	if len(recv) != len(send) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	p.gives(engine.NoPeer, send)
	switch {
	case c.resilience.on:
		p.survive(small{kind: commons.Allreduce, send: send, recv: recv, op: op})
	case !op.Foreign && c.isSmall(len(send), p.size()*len(send)):
		p.small = small{kind: commons.Allreduce, send: send, recv: recv, op: op}
	default:
		p.allreduceSteps(send, recv, op)
	}
	return p
}

// allreduceSteps is Allreduce by messages.
func (p *Plan) allreduceSteps(send, recv []byte, op Op) {
	switch f := fold(p.size(), p.rank()); {
	case p.size() == 1:
		p.copy(recv, send)
	case p.comm.oversubscribed && len(send) <= gathered:
		p.gatheredAllreduce(f, send, recv, op)
	case len(send) >= halvedAllreduce && len(send)/op.Size >= f.power:
		p.halvingAllreduce(f, send, recv, op)
	default:
		p.doublingAllreduce(f, send, recv, op)
	}
}

// halvedAllreduce is the size, in bytes, from which on the data is scattered.
const halvedAllreduce = 32 << 10

// foldIn brings the data of the ranks that fold to their partners. At a member that is left it
// returns the block's data and two buffers of the same size: data may be send, and one of the
// buffers is recv. At the others it returns nil.
func (p *Plan) foldIn(f folded, send, recv []byte, op Op) (source, data, spare []byte) {
	if f.me < 0 {
		p.send(p.rank()+1, send)
		p.wait()
		return nil, nil, nil
	}
	spare = p.scratch(len(send))
	if !f.paired(p.rank()) {
		return send, recv, spare
	}
	p.receive(p.rank()-1, spare)
	p.wait()
	p.combine(op, spare, send) // the left neighbour's data comes first
	return spare, spare, recv
}
