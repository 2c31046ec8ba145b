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

// state is where the owner is with a peer.
type state uint8

const (
	unmet   state = iota // no connection; frames queue
	live                 // connected
	ending               // the connection has ended, an inquest finds out why
	gone                 // Closed was told
	outcast              // fenced
)

// peer is the owner's side of one link.
type peer struct {
	proc        proto.Proc
	incarnation proto.Incarnation // its incarnation
	state       state
	asked       bool      // unmet: a connection is on its way
	fd          int       // live: the socket
	link        *shm.Link // live: what carries the frames in the socket's place, if there is shared memory
	active      bool      // the link is looked at in every Poll
	idle        int       // active: how often in a row in vain
	pidfd       int       // -1: the process isn't watched (any more)
	pid         int       // of a peer that shares memory
	unreadable  bool      // the system refuses to read in its memory
	exited      bool      // its process has ended
	calm        bool      // exited: nothing has come since hush was set
	waiting     bool      // the queue waits for room in the socket
	broken      bool      // writing failed; what it has sent may still come
	inbox       stream.Inbox
	outbox      stream.Outbox
}

func (t *Transport) peer(p proto.Proc) *peer {
	if t.peers[p] == nil {
		if p == t.board.self {
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

// sendSlowly is for frames that don't fit a record, peers without shared memory, and those that
// aren't in order.
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
	if p.state == unmet {
		t.meet(p)
		return
	}
	if p.link != nil {
		t.flush(p)
		return
	}
	t.awaitRoom(p, true)
}

// meet has a connection made, if none is on its way.
func (t *Transport) meet(p *peer) {
	if p.asked {
		return
	}
	p.asked = true
	// If the peer was faster, its connection is among the news.
	if t.board.startDial(p.proc) {
		t.background.Go(func() { t.dialler.connect(t.ctx, p.proc, p.incarnation) })
	}
}

// giveBack has the next Poll give a payload back, if it was borrowed.
func (t *Transport) giveBack(to proto.Proc, token uint64) {
	if token != 0 {
		t.given = append(t.given, loan{to, token})
		t.Wake()
	}
}

// pour sends what the medium takes of a frame.
func (t *Transport) pour(p *peer, header, payload []byte) int {
	n := t.write(p, header, payload)
	if p.link == nil || n < len(header) {
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

// write sends what the medium takes. If writing fails for good the peer is
// broken; its end is for receive to find, after what it had sent.
func (t *Transport) write(p *peer, runs ...[]byte) int {
	if p.link != nil {
		n := p.link.Out.Stream(runs...)
		if n > 0 {
			p.link.Ring()
		}
		return n
	}
	n, errno := t.vector.Send(p.fd, runs...)
	switch errno {
	case 0:
		return n
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
		return 0
	}
	p.broken = true
	t.forget(p)
	return 0
}

// flush sends what waits.
func (t *Transport) flush(p *peer) {
	if p.link != nil {
		p.link.Out.Hunger()
	}
	for p.outbox.Len() > 0 {
		t.runs = p.outbox.Bytes(t.runs[:0], tcp.MaxRuns)
		n := t.write(p, t.runs...)
		if n == 0 {
			break
		}
		t.moved++
		t.tokens = p.outbox.Advance(&t.pool, n, t.tokens[:0])
		for _, token := range t.tokens {
			t.giveBack(p.proc, token)
		}
	}
	t.awaitRoom(p, p.outbox.Len() > 0)
}

// awaitRoom has the poller tell when the socket takes more, or no longer. A ring's
// reader tells by the bell.
func (t *Transport) awaitRoom(p *peer, on bool) {
	if p.link != nil {
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

// receive takes in at most one buffer of what a peer has sent over its socket.
func (t *Transport) receive(p *peer) {
	direct, rest := p.inbox.Space(t.buffer)
	if len(direct) > 0 {
		// No more than the next header, so that a large payload that follows is
		// read straight to its place, too.
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
	p.calm = false
	frames, err := p.inbox.Take(p.proc, t.buffer, n, t.sink)
	t.moved += max(frames, 1)
	if err != nil && p.state == live {
		t.logRefusal(fmt.Errorf("from %v: %w", p.proc, err), nil)
		t.end(p)
	}
}

// end is the end of a connection. Why, if the kernel hasn't told already, is for
// an inquest to find.
func (t *Transport) end(p *peer) {
	t.hangUp(p)
	t.board.set(p.proc, over)
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
	t.background.Go(func() { t.dialler.inquire(t.ctx, p.proc, p.incarnation, pidfd) })
}

// hangUp closes a peer's socket and forgets what was on its way.
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
		p.link.Close()
		p.link = nil
	}
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

// leave tells a peer's end: what was borrowed is given back, then Closed.
func (t *Transport) leave(p *peer, why transport.Evidence) {
	t.hangUp(p)
	t.unwatch(p)
	t.board.set(p.proc, over)
	p.state = gone
	p.exited = p.exited || why == transport.EvidenceExited
	t.settle()
	t.moved++
	t.sink.Closed(p.proc, why)
}

// Fence implements transport.Transport.
func (t *Transport) Fence(who proto.Proc) {
	p := t.peer(who)
	if p.state == outcast {
		return
	}
	t.board.fence(who, p.exited)
	if p.state == gone {
		return // it may ask all the same
	}
	p.state = outcast
	t.hangUp(p)
	t.unwatch(p)
}
