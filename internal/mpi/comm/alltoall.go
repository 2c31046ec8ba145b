package comm

import "banyan/internal/runtime/engine"

// Alltoall sends the i-th part of send to rank i and receives its part for this
// rank as the i-th of recv. All parts are of the same number of elements of size
// bytes. send mustn't be recv.
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
	each := len(send) / n
	if each <= bruckAlltoall && n >= bruckAlltoallMembers && !(c.oversubscribed && n <= spreadOversubscribed) {
		p.bruckAlltoall(send, recv, each)
	} else {
		p.spreadAlltoall(Blocks{Data: send, Each: each}, Blocks{Data: recv, Each: each})
	}
	return p
}

// bruckAlltoall and bruckAlltoallMembers are up to how many bytes a part, and from
// how many members on, others carry parts on.
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
