package process

import "banyan/internal/proto"

// The data of a large message whose type has gaps must be packed before it can be sent, and
// unpacked when it has come. Done as a whole, that is a wait for the sender, then the way, then a
// wait for the receiver. Here the three go on at the same time: the sender packs a piece when the
// transport has room for it, and the receiver unpacks what has come while the next piece is on
// its way.
//
// Such data travels in fragments, since a receiver that reads the sender's memory would read what
// isn't packed yet. Replicas keep, log and compare whole messages: in their jobs nothing is
// gradual.

// Gradual is data of the program that is packed into the buffer of a send, or unpacked from that of
// a receive, while its message travels. It is called from within the Process's methods, on whatever
// thread polls, and must not call back.
type Gradual interface {
	// Upto is called when the first n bytes are needed, or have come. n doesn't always rise.
	Upto(n uint64)
}

// graduals are the requests under way whose data is gradual: as many as threads wait for one.
type graduals []gradual

type gradual struct {
	request Handle
	data    Gradual
}

// gradualPiece is how much is packed and sent at once: less than a ring holds, so that the receiver
// has something to do meanwhile.
const gradualPiece = 32 << 10

// SendGradually is Send for a message whose data becomes ready as it is needed. It returns false,
// and has done nothing, if the data must be ready at once. After the end of the request the
// caller calls EndGradual.
func (p *Process) SendGradually(context uint64, dst proto.Rank, tag int32, data []byte, g Gradual) (Handle, bool) {
	if len(data) <= EagerLimit || dst == p.rank || p.replicated || p.sendError(context, dst) != nil {
		return Handle{}, false
	}
	expose := p.direct
	p.direct = nil // the offer doesn't say where the data is
	h := p.sendOffer(context, dst, tag, data)
	p.direct = expose
	p.graduals = append(p.graduals, gradual{h, g})
	return h, true
}

// ReceiveGradually is Receive for a buffer that is emptied while it is being filled. Upto may be
// called for less than came in the end. After the end of the request the caller calls EndGradual.
func (p *Process) ReceiveGradually(context uint64, src proto.Rank, tag int32, buffer []byte, g Gradual) Handle {
	h := p.Receive(context, src, tag, buffer)
	if !p.replicated {
		p.graduals = append(p.graduals, gradual{h, g})
	}
	return h
}

// EndGradual forgets the data of a request.
func (p *Process) EndGradual(h Handle) {
	for i := range p.graduals {
		if p.graduals[i].request == h {
			last := len(p.graduals) - 1
			p.graduals[i], p.graduals[last] = p.graduals[last], gradual{}
			p.graduals = p.graduals[:last]
			return
		}
	}
}

// upto has the first n bytes of a receive's data unpacked, if it is gradual.
func (g graduals) upto(h Handle, n uint64) {
	for i := range g {
		if g[i].request == h {
			g[i].data.Upto(n)
		}
	}
}

// next is the size of the next fragment of a send's data, of which at have been sent: that much is
// ready.
func (g graduals) next(h Handle, at, size uint64) uint64 {
	for i := range g {
		if g[i].request == h {
			size = min(size, gradualPiece)
			g[i].data.Upto(at + size)
			break
		}
	}
	return size
}
