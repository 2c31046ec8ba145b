package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/wire"
)

// A message that is larger than a transport's frame buffer (transport.DirectSize) and sent whole lands in the buffer of its
// receive, if that is posted when its header comes: the transport puts it there, and nothing is copied but from the medium.
// From then on the two belong together, as with the data of a rendezvous: who waits goes on
// waiting while the sender lives, whatever else fails, since the transport writes to the program's buffer.
//
// With replicas a message is kept until its cause has been here, so there is nothing of the kind.

// zeroCopyDest gives the place of an eager message whose header has come, nil if no receive waits for it
// that has room for it all.
func (p *Process) zeroCopyDest(from proto.Proc, h *wire.Header) []byte {
	if p.replicated || h.Kind != wire.KindEager || h.Src != proto.Rank(from) || h.Dst != p.rank || h.Total != uint64(h.Length) ||
		!p.Alive(from) {
		return nil
	}
	e := match.Envelope{Context: h.Context, Src: h.Src, Tag: h.Tag}
	token, ok := p.match.Awaited(e)
	if !ok {
		return nil
	}
	rh, r := p.requests.at(token)
	if len(r.buffer) < int(h.Length) {
		return nil
	}
	p.match.Claim(e)
	ah, a := p.newArrival(e, h.Total)
	a.zeroCopy, a.from, a.request = true, from, rh
	r.status, r.arrival = a.status(), ah
	p.peers[from].zeroCopy = ah
	return r.buffer[:h.Length:h.Length]
}

// zeroCopyArrived ends the receive in whose buffer a message has come to its end.
func (p *Process) zeroCopyArrived(from proto.Proc, h *wire.Header) bool {
	ah := p.peers[from].zeroCopy
	if ah == (Handle{}) {
		return false
	}
	p.peers[from].zeroCopy = Handle{}
	p.peers[from].contacted = true
	p.received(from, h.Kind)
	if a := p.receives.arrivals.get(ah); a != nil {
		if n := h.Completed(); n != 0 {
			p.noteCompleted(h.Context, h.Src, n)
		}
		p.endZeroCopy(a, nil)
	}
	return true
}

// endZeroCopy ends the receive of a message that lands, and forgets the message.
func (p *Process) endZeroCopy(a *arrival, err error) {
	if p.peers[a.from].zeroCopy == a.self {
		p.peers[a.from].zeroCopy = Handle{}
	}
	if r := p.requests.get(a.request); r != nil {
		p.complete(a.request, r, err)
	}
	p.dropArrival(a.self, a)
}
