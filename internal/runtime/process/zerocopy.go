package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/wire"
)

// A message that is larger than a transport's frame buffer (transport.DirectSize) and sent whole
// is received without a copy if its receive is posted when its header comes: the transport reads
// it straight into the buffer of the receive. From then on message and receive belong together,
// as with the data of a rendezvous. The receive goes on while the sender is alive, whatever else
// fails, since the transport writes to the program's buffer.
//
// With replicas a message is kept until its cause has been here, so it is always copied.

// zeroCopyDest gives the buffer for an eager message whose header has come; nil if no receive
// waits for it that has room for all of it.
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
	r.resume()
	ah, a := p.newArrival(e, h.Total)
	a.zeroCopy, a.from, a.request, a.typ = true, from, rh, uint32(h.Aux)
	r.status, r.arrival = a.status(), ah
	p.peers[from].zeroCopy = ah
	return r.buffer[:h.Length:h.Length]
}

// zeroCopyArrived ends the receive whose buffer a message has filled.
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

// endZeroCopy ends a zero-copy receive, and forgets the message.
func (p *Process) endZeroCopy(a *arrival, err error) {
	if p.peers[a.from].zeroCopy == a.self {
		p.peers[a.from].zeroCopy = Handle{}
	}
	if r := p.requests.get(a.request); r != nil {
		p.complete(a.request, r, err)
	}
	p.dropArrival(a.self, a)
}
