package comm

import (
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/engine"
)

// Allgather leaves the data of all members at every member, in rank order. All give the same number
// of bytes. send may be this member's part of recv.
func (c *Comm) Allgather(send, recv []byte) *Plan {
	p := c.plan("Allgather")
	n := p.size()
	if len(recv) != len(send)*n {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)*n))
	}
	p.gives(engine.NoPeer, send)
	if c.isSmall(len(send), len(recv)) {
		p.small = small{kind: commons.Allgather, send: send, recv: recv}
	} else {
		p.allgatherSteps(send, recv)
	}
	return p
}

// allgatherSteps is Allgather by messages.
func (p *Plan) allgatherSteps(send, recv []byte) {
	n := p.size()
	own := recv[p.rank()*len(send) : (p.rank()+1)*len(send)]
	p.copy(own, send)
	switch {
	case n&(n-1) == 0 && len(recv) <= doublingAllgather:
		p.doublingAllgather(recv, len(send))
	case len(recv) <= bruckAllgather:
		p.bruckAllgather(Blocks{Data: recv, Each: len(send)})
	default:
		p.ringAllgather(Blocks{Data: recv, Each: len(send)})
	}
}

// The algorithms with few steps serve wholes of up to so many bytes.
const (
	doublingAllgather = 256 << 10
	bruckAllgather    = 64 << 10
)

// Allgatherv is Allgather for parts of different lengths, recv.Of(i) from rank i;
// the lengths are the same at all members.
func (c *Comm) Allgatherv(send []byte, recv Blocks) *Plan {
	p := c.plan("Allgather")
	if err := recv.check("the receive buffer", p.size()); err != nil {
		return p.fail(err)
	}
	own := recv.Of(p.rank())
	if len(own) != len(send) {
		return p.fail(sizeError("the send buffer", len(send), len(own)))
	}
	p.gives(engine.NoPeer, send)
	p.copy(own, send)
	whole := 0
	for i := range p.size() {
		whole += recv.Len(i)
	}
	if whole <= bruckAllgather {
		p.bruckAllgather(recv)
	} else {
		p.ringAllgather(recv)
	}
	return p
}
