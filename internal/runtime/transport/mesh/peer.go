package mesh

import (
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/transport/stream"
	"banyan/internal/runtime/transport/tcp"
	"banyan/internal/runtime/wire"
)

// peerState is how far the owner is with a peer.
type peerState uint8

const (
	notConnected peerState = iota // frames queue
	live                          // connected
	ending                        // the connection has ended; a liveness probe finds out why
	gone                          // Closed was told
	peerFenced                    // this process has fenced the peer
)

// peer is the owner's side of one link.
type peer struct {
	proc        proto.Proc
	incarnation proto.Incarnation
	state       peerState
	asked       bool      // notConnected: a connection is on its way
	fd          int       // live: the socket
	link        *shm.Link // live: carries the frames, if there is shared memory
	active      bool      // every Poll looks at the link
	idle        int       // active: how many Polls in a row found nothing
	pidfd       int       // -1: the process isn't watched (any more)
	pid         int       // of a peer that shares memory
	unreadable  bool      // the system refuses to read its memory
	exited      bool      // its process has ended
	silent      bool      // exited: nothing has come since quiesce began
	waiting     bool      // the queue waits for room in the socket
	broken      bool      // writing failed; frames that the peer has sent may still come
	sealed      *sealed   // live: seals what goes over the socket; nil: nothing does
	inbox       stream.Inbox
	outbox      stream.Outbox
	kept        []keptRecord // what it had kept for this process when its link ended
}

func (t *Transport) peer(p proto.Proc) *peer {
	if t.peers[p] == nil {
		if p == t.table.self {
			panic(fmt.Sprintf("mesh: %v is its own peer", p))
		}
		t.peers[p] = &peer{proc: p, incarnation: t.incarnations[p], fd: -1, pidfd: -1}
	}
	return t.peers[p]
}

// Send implements transport.Transport.
func (t *Transport) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	h.Length = uint32(len(payload))
	if err := h.Check(); err != nil {
		panic(err)
	}
	p := t.peers[to]
	if p != nil && p.link != nil && p.outbox.Len() == 0 && len(payload) <= transport.DirectSize && p.link.Out.Frame(h, payload) {
		p.link.Ring()
		if token != 0 {
			t.giveBack(to, token)
		}
		return
	}
	t.sendSlowly(to, h, payload, token)
}

// sendSlowly sends frames that don't fit a record, or go to a peer that shares no memory or isn't
// ready for them.
func (t *Transport) sendSlowly(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	p := t.peer(to)
	if p.state > live || p.broken || t.closed {
		t.giveBack(to, token)
		return
	}
	n := 0
	if p.state == live && p.outbox.Len() == 0 {
		wire.EncodeHeader(t.header[:], h)
		n = t.pour(p, t.header[:], payload)
	} else {
		wire.EncodeHeader(t.header[:], h)
	}
	if n == wire.HeaderSize+len(payload) || p.broken {
		t.giveBack(to, token)
		return
	}
	p.outbox.Add(&t.pool, t.header[:], payload, token, n)
	if p.state == notConnected {
		t.requestLink(p)
		return
	}
	if p.link != nil {
		t.flush(p)
		return
	}
	t.awaitRoom(p, true)
}

// requestLink starts a dial, unless a connection is on its way.
func (t *Transport) requestLink(p *peer) {
	if p.asked {
		return
	}
	p.asked = true
	// If the peer was faster, the news have its connection.
	if t.table.startDial(p.proc) {
		t.background.Go(func() { t.dialler.connect(t.ctx, p.proc, p.incarnation) })
	}
}

// giveBack makes the next Poll give a payload back, if it was borrowed.
func (t *Transport) giveBack(to proto.Proc, token uint64) {
	if token != 0 {
		t.given = append(t.given, loan{to, token})
		t.Wake()
	}
}

// pour sends as much of a frame as the medium takes.
func (t *Transport) pour(p *peer, header, payload []byte) int {
	if p.link == nil {
		return t.write(p, header, payload)
	}
	// The header of a large payload has a record of its own: so the reader knows where all of the
	// payload goes.
	n := 0
	if len(payload) > transport.DirectSize {
		n = t.write(p, header)
	} else {
		n = t.write(p, header, payload)
	}
	if n < len(header) {
		return n
	}
	for n < len(header)+len(payload) {
		k := t.write(p, payload[n-len(header):])
		if k == 0 {
			break
		}
		n += k
	}
	return n
}

// write sends as much as the medium takes. If writing fails for good the peer is broken; receive
// finds its end, after all that the peer had sent.
func (t *Transport) write(p *peer, runs ...[]byte) int {
	if p.link != nil {
		n := p.link.Out.Stream(runs...)
		if n > 0 {
			p.link.Ring()
		}
		return n
	}
	if p.sealed != nil {
		return t.writeSealed(p, runs)
	}
	return t.put(p, runs...)
}

// put writes to a peer's socket.
func (t *Transport) put(p *peer, runs ...[]byte) int {
	n, errno := t.vector.Send(p.fd, runs...)
	switch errno {
	case 0:
		t.written += uint64(n)
		return n
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
		return 0
	}
	p.broken = true
	t.forget(p)
	return 0
}

// flush sends what waits in a peer's queue.
func (t *Transport) flush(p *peer) {
	// Each Poll looks at an active peer, which needn't tell then that it has made room.
	told := p.link == nil || p.active
	if p.sealed != nil {
		t.flushSealed(p)
	}
	for p.outbox.Len() > 0 {
		t.runs = p.outbox.Bytes(t.runs[:0], tcp.MaxRuns)
		n := t.write(p, t.runs...)
		if n == 0 {
			if told {
				break
			}
			p.link.Out.Hunger()
			told = true
			continue
		}
		t.moved++
		t.tokens = p.outbox.Advance(&t.pool, n, t.tokens[:0])
		for _, token := range t.tokens {
			t.giveBack(p.proc, token)
		}
	}
	t.awaitRoom(p, p.outbox.Len() > 0 || p.sealed.waits())
}

// awaitRoom makes the poller tell when the socket takes more, or stop telling. The reader of a
// ring tells by the doorbell.
func (t *Transport) awaitRoom(p *peer, on bool) {
	if p.link != nil {
		p.link.Queue(on)
		if !on {
			p.link.Out.Fed()
		}
		return
	}
	if p.waiting == on {
		return
	}
	p.waiting = on
	t.poller.alsoWritable(p.fd, p.proc, on)
	if on {
		t.waiting++
	} else {
		t.waiting--
	}
}

// forget empties a peer's queue.
func (t *Transport) forget(p *peer) {
	t.tokens = p.outbox.Drop(&t.pool, t.tokens[:0])
	for _, token := range t.tokens {
		t.giveBack(p.proc, token)
	}
}

// receive takes in at most one buffer of the data that a peer has sent over its socket.
func (t *Transport) receive(p *peer) {
	if p.sealed != nil {
		t.receiveSealed(p)
		return
	}
	direct, rest := p.inbox.Space(t.buffer)
	if len(direct) > 0 {
		// Read no more than the next header, so that a large payload that follows is also read
		// straight into its destination.
		rest = rest[:wire.HeaderSize]
	}
	n, errno := t.vector.Receive(p.fd, direct, rest)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0 || n == 0:
		t.end(p)
		return
	}
	p.silent = false
	frames, err := p.inbox.Take(p.proc, t.buffer, n, t.sink)
	t.moved += max(frames, 1)
	if err != nil && p.state == live {
		t.logRefusal(fmt.Errorf("from %v: %w", p.proc, err), nil)
		t.end(p)
	}
}

// end ends a connection. If the kernel hasn't told the reason already, a liveness probe finds it
// out.
func (t *Transport) end(p *peer) {
	t.hangUp(p)
	t.table.end(p.proc)
	if p.exited {
		t.leave(p, transport.EvidenceExited)
		return
	}
	p.state = ending
	pidfd := p.pidfd
	p.pidfd = -1
	if pidfd >= 0 {
		t.poller.remove(pidfd)
	}
	t.background.Go(func() { t.dialler.probe(t.ctx, p.proc, p.incarnation, pidfd) })
}

// hangUp closes a peer's socket and link, and drops what was on its way.
func (t *Transport) hangUp(p *peer) {
	if p.fd >= 0 {
		if p.waiting {
			p.waiting = false
			t.waiting--
		}
		if p.link == nil {
			t.sockets--
		}
		t.poller.removeAndClose(p.fd)
		p.fd = -1
	}
	if p.link != nil {
		t.deactivate(p)
		link := p.link
		t.endKept(p)
		p.link = nil
		t.share(p)
		link.Close()
	}
	t.unseal(p)
	p.inbox.Stop()
	t.forget(p)
}

// unwatch closes a peer's pidfd.
func (t *Transport) unwatch(p *peer) {
	if p.pidfd >= 0 {
		t.poller.removeAndClose(p.pidfd)
		p.pidfd = -1
	}
}

// leave reports a peer's end: it gives back what was borrowed, then calls Closed.
func (t *Transport) leave(p *peer, why transport.Evidence) {
	t.hangUp(p)
	t.unwatch(p)
	t.table.end(p.proc)
	p.state = gone
	p.exited = p.exited || why == transport.EvidenceExited
	t.settle()
	t.moved++
	t.sink.Closed(p.proc, why)
}

// Fence implements transport.Transport.
func (t *Transport) Fence(who proto.Proc) {
	p := t.peer(who)
	if p.state == peerFenced {
		return
	}
	t.table.fence(who, p.exited)
	if p.state == gone {
		return // the link table has the verdict, in case the peer asks
	}
	p.state = peerFenced
	t.hangUp(p)
	t.unwatch(p)
}
