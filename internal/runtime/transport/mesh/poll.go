package mesh

import (
	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

// pace decides what an idle Poll costs. To ask the epoll set and then to read takes two system
// calls. So Poll reads the peer that last sent something right away, and asks the set now and
// then. It does so only for a moment: a read takes the socket's lock, and while much is on its
// way in either direction the kernel needs that lock itself.
type pace struct {
	hot   proto.Proc // the peer that sent last; NoProc: no peer sent lately
	reads int        // of the hot peer since the set was asked
	vain  int        // reads of the hot peer in a row that found nothing

	skipped int // Polls since the set was asked
}

const (
	// maxReads is how often a hot peer is read before the set is asked: other peers wait that much
	// longer.
	maxReads = 8
	// maxVain is how often a hot peer is read in vain before it isn't hot any more.
	maxVain = 16
	// maxSkipped is after how many Polls the set is asked if no peer is reached by a socket. A
	// wait asks it, too.
	maxSkipped = 256
	// maxBusy is how many Polls in a row may find something in shared memory before one looks at
	// the sockets all the same.
	maxBusy = 8
)

// Poll implements transport.Transport.
func (t *Transport) Poll(sink transport.Sink) int {
	if t.closed {
		return 0
	}
	t.sink, t.moved = sink, 0
	if t.table.fresh.Load() {
		t.hear()
	}
	if len(t.ends) > 0 {
		t.tellEnds()
	}
	if t.pollRings() {
		t.pollSockets()
	}
	if len(t.given) > 0 {
		t.settle()
	}
	t.sink = nil
	return t.moved
}

// pollSockets looks at the peers that are reached by sockets, if there are any, and now and then
// for the end of a peer that isn't.
func (t *Transport) pollSockets() {
	if t.sockets == 0 {
		if t.pace.skipped++; t.pace.skipped < maxSkipped && !t.poller.stirred.Load() {
			return
		}
	} else if t.pollHot() {
		return
	}
	t.pace.skipped = 0
	t.pollAll()
}

// pollHot reads the hot peer, and says whether that is enough for this Poll.
func (t *Transport) pollHot() bool {
	if t.pace.hot == proto.NoProc {
		return false
	}
	p := t.peers[t.pace.hot]
	if p.state != live {
		t.pace.hot = proto.NoProc
		return false
	}
	if p.inbox.Large() {
		return false // all of it that has come by now has been read
	}
	before := t.moved
	t.receive(p)
	if t.moved > before {
		t.pace.vain = 0
	} else if t.pace.vain++; t.pace.vain > maxVain {
		t.pace.hot = proto.NoProc
	}
	t.pace.reads++
	return t.pace.reads < maxReads && t.waiting == 0
}

// pollAll asks the epoll set.
func (t *Transport) pollAll() {
	t.pace.reads = 0
	t.poller.stirred.Store(false)
	for _, e := range t.poller.poll() {
		if subject(e.Pad) == theAlarm {
			t.poller.passOn() // it is meant for the waiting thread
			continue
		}
		// The peer may have ended since, by an event before this one.
		p := t.peers[e.Fd]
		if subject(e.Pad) == aPidfd {
			if p.pidfd >= 0 {
				t.exit(p)
			}
			continue
		}
		if p.state == live && e.Events&unix.EPOLLOUT != 0 {
			t.flush(p)
		}
		if p.state == live && p.link != nil {
			t.endLink(p)
			continue
		}
		if p.state == live && e.Events&^unix.EPOLLOUT != 0 {
			before := t.moved
			t.receive(p)
			if t.moved > before && p.state == live {
				t.pace.hot, t.pace.vain = p.proc, 0
			}
		}
	}
}

// exit notes that a live peer's process has ended. All that it sent is on its way already, and
// the end of the stream follows, unless a forked child holds the socket open: then the stream
// counts as ended when nothing has come for a while.
func (t *Transport) exit(p *peer) {
	t.unwatch(p)
	p.exited, p.silent = true, true
	t.moved++
	if p.link != nil {
		t.ends = append(t.ends, news{peer: p.proc, incarnation: p.incarnation, kind: quiet})
		return
	}
	t.background.Go(func() { t.dialler.quiesce(t.ctx, p.proc, p.incarnation) })
}

// settle gives back the payloads that are due. If the sink's own sends make more payloads due
// meanwhile, these wait for the next Poll, so that this one ends.
func (t *Transport) settle() {
	due := len(t.given)
	for i := range due {
		t.sink.Sent(t.given[i].to, t.given[i].token)
	}
	t.given = append(t.given[:0], t.given[due:]...)
	t.moved += due
}

// hear takes the news of the background goroutines. New connections go live at once; ends wait for
// tellEnds.
func (t *Transport) hear() {
	if !t.table.fresh.Load() {
		return
	}
	t.news = t.table.take(t.news[:0])
	for _, n := range t.news {
		if n.kind == connected {
			t.live(n)
		} else {
			t.ends = append(t.ends, n)
		}
	}
}

// live takes over a new connection.
func (t *Transport) live(n news) {
	p := t.peer(n.peer)
	if p.state != notConnected || p.incarnation != n.incarnation {
		n.discard() // fenced meanwhile
		return
	}
	p.state, p.fd, p.link, p.pid = live, n.via.fd, n.via.link, n.via.pid
	t.moved++
	if p.link == nil {
		t.sockets++
	}
	if err := t.poller.add(p.fd, aSocket, n.peer); err != nil {
		t.hangUp(p)
		n.end.close()
		t.logRefusal(err, nil)
		t.ends = append(t.ends, news{peer: n.peer, incarnation: n.incarnation, kind: ended, why: transport.EvidenceLost})
		return
	}
	switch {
	case n.end.exited:
		t.exit(p)
	case n.end.pidfd >= 0:
		if err := t.poller.add(n.end.pidfd, aPidfd, n.peer); err != nil {
			t.logRefusal(err, nil)
			n.end.close()
			break
		}
		p.pidfd = n.end.pidfd
	}
	if n.via.keys != nil {
		p.sealed = newSealed(*n.via.keys)
	}
	if p.link != nil {
		t.activate(p)
		t.doorbells.Ring(p.proc) // the peer may have rung before there was a link
	}
	t.flush(p)
	t.share(p)
}

// tellEnds acts on the news of ends.
func (t *Transport) tellEnds() {
	for i := 0; i < len(t.ends); i++ {
		n := t.ends[i]
		p := t.peer(n.peer)
		switch {
		case p.incarnation != n.incarnation: // another process has replaced it
		case p.state >= gone:
			if n.kind == ended && n.why == transport.EvidenceEviction {
				t.moved++
				t.sink.Closed(p.proc, n.why)
			}
		case n.kind == ended:
			t.leave(p, n.why)
		case p.state == live && n.kind == quiet:
			t.last(p)
		}
	}
	t.ends = t.ends[:0]
}

// last looks for the last bytes of an exited peer. If nothing has come since the look before,
// nothing will.
func (t *Transport) last(p *peer) {
	if p.link != nil {
		t.endLink(p)
		return
	}
	wasSilent := p.silent
	p.silent = true
	t.receive(p)
	switch {
	case p.state != live:
	case wasSilent && p.silent:
		t.leave(p, transport.EvidenceExited)
	default:
		t.background.Go(func() { t.dialler.quiesce(t.ctx, p.proc, p.incarnation) })
	}
}
