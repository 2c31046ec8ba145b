package inproc

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/stream"
	"banyan/internal/runtime/wire"
)

// Endpoint is one Proc's transport.
type Endpoint struct {
	net  *Network
	self proto.Proc
	bell doorbell

	_     cacheLine
	ended atomic.Bool // closed or killed
	_     cacheLine

	// Only the owner uses the fields below.
	hot    proto.Proc // the peer that sent last; NoProc: none yet
	reads  int        // of the hot peer since the doorbell was answered
	peers  []*peer    // nil until used
	pool   stream.Pool
	buffer *stream.Buffer
	header [wire.HeaderSize]byte
	runs   [][]byte
	tokens []uint64
	given  []loan // payloads to give back at the next Poll
	sink   transport.Sink
	moved  int
	visit  func(proto.Proc) // e.look, bound once
}

// loan is a borrowed payload.
type loan struct {
	to    proto.Proc
	token uint64
}

type peer struct {
	in, out *pipe // nil until used
	inbox   stream.Inbox
	outbox  stream.Outbox
	gone    bool // Closed was called
	fenced  bool
}

func newEndpoint(net *Network, self proto.Proc, n int) *Endpoint {
	e := &Endpoint{net: net, self: self, bell: newDoorbell(n), peers: make([]*peer, n), hot: proto.NoProc}
	e.visit = e.look
	return e
}

func (e *Endpoint) peer(p proto.Proc) *peer {
	if e.peers[p] == nil {
		if p == e.self {
			panic(fmt.Sprintf("inproc: %v is its own peer", p))
		}
		e.peers[p] = &peer{}
	}
	return e.peers[p]
}

// Send implements transport.Transport.
func (e *Endpoint) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	h.Length = uint32(len(payload))
	if err := h.Check(); err != nil {
		panic(err)
	}
	p := e.peer(to)
	if e.ended.Load() || p.gone || p.fenced {
		e.giveBack(to, token)
		return
	}
	if p.out == nil {
		p.out = e.net.pipe(e.self, to)
	}
	wire.EncodeHeader(e.header[:], h)
	n := 0
	if p.outbox.Len() == 0 {
		n = p.out.write(e.header[:], payload)
		e.net.endpoints[to].bell.ring(e.self)
	}
	if n == wire.HeaderSize+len(payload) {
		e.giveBack(to, token)
		return
	}
	p.outbox.Add(&e.pool, e.header[:], payload, token, n)
	e.flush(to, p)
}

// giveBack makes the next Poll give a payload back, if it was borrowed.
func (e *Endpoint) giveBack(to proto.Proc, token uint64) {
	if token != 0 {
		e.given = append(e.given, loan{to, token})
		e.bell.wake()
	}
}

// flush moves what waits for a peer into its pipe. If some bytes still have to wait, the peer
// rings when there is room.
func (e *Endpoint) flush(to proto.Proc, p *peer) {
	for p.outbox.Len() > 0 {
		// hungry is set before the look at the room, so that the reader rings for room made after
		// the look.
		p.out.hungry.Store(true)
		n := 0
		e.runs = p.outbox.Bytes(e.runs[:0], 8)
		for _, run := range e.runs {
			k := p.out.write(run, nil)
			n += k
			if k < len(run) {
				break
			}
		}
		if n == 0 {
			return
		}
		e.moved++
		e.net.endpoints[to].bell.ring(e.self)
		e.tokens = p.outbox.Advance(&e.pool, n, e.tokens[:0])
		for _, token := range e.tokens {
			e.giveBack(to, token)
		}
	}
	p.out.hungry.Store(false)
}

// Queued implements transport.Transport.
func (e *Endpoint) Queued(to proto.Proc) int {
	if p := e.peers[to]; p != nil {
		return p.outbox.Len()
	}
	return 0
}

// Poll implements transport.Transport.
func (e *Endpoint) Poll(sink transport.Sink) int {
	if e.ended.Load() {
		return 0
	}
	e.moved, e.sink = 0, sink
	if !e.pollHot() {
		e.reads = 0
		e.bell.answer(e.visit)
	}
	e.settle()
	e.sink = nil
	return e.moved
}

// maxReads is how many Polls in a row look only at the peer that sent last. Its bit in the
// doorbell then stays set, which spares both sides the exchange of a cache line.
const maxReads = 16

// pollHot looks at the peer that sent last, and says whether that is enough for this Poll.
func (e *Endpoint) pollHot() bool {
	if e.hot == proto.NoProc {
		return false
	}
	p := e.peers[e.hot]
	if p.gone || p.fenced {
		e.hot = proto.NoProc
		return false
	}
	e.receive(e.hot, p)
	e.reads++
	return e.reads < maxReads
}

// settle gives back the payloads that are due. If the sink's own sends make more payloads due
// meanwhile, these wait for the next Poll, so that this one ends.
func (e *Endpoint) settle() {
	due := len(e.given)
	if due == 0 {
		return
	}
	for i := range due {
		e.sink.Sent(e.given[i].to, e.given[i].token)
	}
	e.given = append(e.given[:0], e.given[due:]...)
	e.moved += due
}

// look moves what can be moved to and from a peer that has rung.
func (e *Endpoint) look(from proto.Proc) {
	p := e.peer(from)
	if p.gone || p.fenced || e.ended.Load() {
		return
	}
	// Look for the end before the bytes: then all that was written before the end is seen.
	ended := e.net.endpoints[from].ended.Load()
	if p.in == nil {
		p.in = e.net.pipeIfUsed(from, e.self)
	}
	if p.out == nil {
		p.out = e.net.pipeIfUsed(e.self, from)
	}
	refused := p.out != nil && p.out.refused.Load()
	if p.in != nil && !e.receive(from, p) {
		e.bell.ring(from) // there is more, but other peers come first
		return
	}
	switch {
	case p.fenced: // by the sink
	case ended:
		e.leave(from, p, transport.EvidenceExited)
	case refused:
		e.leave(from, p, transport.EvidenceEviction)
	case p.outbox.Len() > 0:
		e.flush(from, p)
	}
}

// receive takes in at most one buffer of the bytes that a peer has written, and says whether that
// was all.
func (e *Endpoint) receive(from proto.Proc, p *peer) (all bool) {
	if p.in.empty() {
		return true
	}
	if e.buffer == nil {
		e.buffer = stream.NewBuffer(pipeSize)
	}
	n := p.in.read(p.inbox.Space(e.buffer))
	if p.in.hungry.Load() && p.in.roomy() {
		p.in.hungry.Store(false)
		e.net.endpoints[from].bell.ring(e.self)
	}
	e.hot = from
	frames, err := p.inbox.Take(from, e.buffer, n, e.sink)
	if err != nil {
		panic(err) // this program wrote what it reads
	}
	e.moved += max(frames, 1)
	return p.fenced || p.in.empty()
}

// leave reports a peer's end: it gives back what was borrowed, then calls Closed.
func (e *Endpoint) leave(from proto.Proc, p *peer, why transport.Evidence) {
	e.cut(from, p)
	p.gone = true
	e.settle()
	e.moved++
	e.sink.Closed(from, why)
}

// cut stops all traffic with a peer.
func (e *Endpoint) cut(to proto.Proc, p *peer) {
	p.inbox.Stop()
	e.tokens = p.outbox.Drop(&e.pool, e.tokens[:0])
	for _, token := range e.tokens {
		e.giveBack(to, token)
	}
}

// Wait implements transport.Transport.
func (e *Endpoint) Wait(limit time.Duration) { e.bell.wait(limit) }

// Wake implements transport.Transport.
func (e *Endpoint) Wake() { e.bell.wake() }

// Fence implements transport.Transport.
func (e *Endpoint) Fence(to proto.Proc) {
	p := e.peer(to)
	if p.fenced || p.gone {
		return
	}
	p.fenced = true
	e.cut(to, p)
	e.net.pipe(to, e.self).refused.Store(true)
	e.net.endpoints[to].bell.ring(e.self)
}

// Drain implements transport.Transport.
func (e *Endpoint) Drain(limit time.Duration) {
	for deadline := time.Now().Add(limit); !e.ended.Load(); runtime.Gosched() {
		left := false
		for to, p := range e.peers {
			if p == nil || p.outbox.Len() == 0 || e.net.endpoints[to].ended.Load() || p.out.refused.Load() {
				continue
			}
			e.flush(proto.Proc(to), p)
			left = left || p.outbox.Len() > 0
		}
		if !left || time.Now().After(deadline) {
			return
		}
	}
}

// Close implements transport.Transport. Peers see the end after the last whole frame.
func (e *Endpoint) Close() error {
	e.end()
	return nil
}

// end marks the end of this Proc, and rings at all others.
func (e *Endpoint) end() {
	if e.ended.Swap(true) {
		return
	}
	for _, other := range e.net.endpoints {
		if other != e {
			other.bell.ring(e.self)
		}
	}
	e.bell.wake()
}
