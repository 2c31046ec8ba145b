package comm

import (
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/engine"
)

// Alltoall sends the i-th part of send to rank i, and receives that rank's part for this one as the
// i-th part of recv. All parts have the same number of elements of size bytes. send must not be
// recv.
func (c *Comm) Alltoall(send, recv []byte, size int) *Plan {
	p := c.plan("Alltoall")
	n := p.size()
	if whole := n * size; len(send)%whole != 0 {
		return p.fail(sizeError("the send buffer", len(send), (len(send)/whole+1)*whole))
	}
	if len(recv) != len(send) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	p.gives(engine.NoPeer, send)
	if c.isSmall(len(send), len(recv)) {
		p.small = small{kind: commons.Alltoall, send: send, recv: recv}
	} else {
		p.alltoallSteps(send, recv)
	}
	return p
}

// alltoallSteps is Alltoall by messages.
func (p *Plan) alltoallSteps(send, recv []byte) {
	n := p.size()
	each := len(send) / n
	if each <= bruckAlltoall && n >= bruckAlltoallMembers && !(p.comm.oversubscribed && n <= spreadOversubscribed) {
		p.bruckAlltoall(send, recv, each)
	} else {
		p.spreadAlltoall(Blocks{Data: send, Each: each}, Blocks{Data: recv, Each: each})
	}
}

// Other members carry parts on if a part has at most bruckAlltoall bytes and there are at least
// bruckAlltoallMembers members.
const (
	bruckAlltoall        = 256
	bruckAlltoallMembers = 8
)

// Alltoallv is Alltoall for parts of different lengths: send.Of(i) goes to rank i,
// and recv.Of(i) comes from it.
func (c *Comm) Alltoallv(send, recv Blocks) *Plan {
	p := c.plan("Alltoallv")
	if err := send.check("the send buffer", p.size()); err != nil {
		return p.fail(err)
	}
	if err := recv.check("the receive buffer", p.size()); err != nil {
		return p.fail(err)
	}
	if own := recv.Len(p.rank()); own != send.Len(p.rank()) {
		return p.fail(sizeError("this rank's own part", own, send.Len(p.rank())))
	}
	p.givesBlocks(engine.NoPeer, send, p.size())
	p.spreadAlltoall(send, recv)
	return p
}
