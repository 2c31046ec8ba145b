package mesh

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

// links are the peers with whom memory is shared. Those that have sent something
// of late are active: each Poll looks at their ring, whatever their bell says. So the
// bell rings on and on, and its line stays in both sides' caches. The others are
// looked at when their bell rings.
//
// Who wants to wait must not overlook an active peer, and can't look at its ring, which is
// for the owner to do. So nobody waits while there is one: mayWait has the next Poll
// retire them all, that is stop their doorbells and then look at their rings for the last
// time.
type links struct {
	doorbells *shm.Doorbells // this process's; nil: no shared memory
	list      []*peer        // the active ones
	skip      []uint64       // the same, a bit per Proc
	record    shm.Inbound
	busy      int // Polls in a row that found something

	active atomic.Bool // list isn't empty
	retire atomic.Bool // somebody wants to wait
}

const (
	// maxActive bounds what a Poll looks at.
	maxActive = 16
	// maxIdlePolls is how often an active peer is looked at in vain before it
	// is retired.
	maxIdlePolls = 4096
	// maxRecords is how many records of a peer one Poll takes in.
	maxRecords = 32
)

// mayWait says whether this is the time to wait, for any goroutine.
func (t *Transport) mayWait() bool {
	if !t.active.Load() {
		return true
	}
	t.retire.Store(true)
	return false
}

// pollLinks looks at the shared memory, and says whether this is the time to look
// at the sockets, too.
func (t *Transport) pollLinks() bool {
	if t.doorbells == nil {
		return true
	}
	before := t.moved
	if t.retire.Load() {
		t.retire.Store(false)
		for len(t.list) > 0 {
			t.stop(t.list[len(t.list)-1])
			if t.moved > before {
				break // no time to wait
			}
		}
	}
	for i := 0; i < len(t.list); i++ {
		p := t.list[i]
		if p.link.In.Ready() || p.outbox.Len() > 0 {
			// To look for more is to wait for a line from the peer's core. In an
			// exchange of single messages, which had this one awaited, there
			// is no more.
			most := maxRecords
			if p.idle > 0 {
				most = 1
			}
			p.idle = 0
			t.look(p, most)
		} else if p.idle++; p.idle > maxIdlePolls {
			t.stop(p)
		}
	}
	for i, active := range t.skip {
		for rings := t.doorbells.Word(i) &^ active; rings != 0; rings &= rings - 1 {
			t.rung(proto.Proc(i*64 + bits.TrailingZeros64(rings)))
		}
	}
	if t.moved == before {
		t.busy = 0
		return true
	}
	t.busy++
	return t.busy%maxBusy == 0
}

// rung answers the bell of a peer that isn't active.
func (t *Transport) rung(q proto.Proc) {
	if int(q) >= len(t.peers) || t.peers[q] == nil || t.peers[q].link == nil {
		t.doorbells.Stop(q) // it's early, late, or not a peer at all
		return
	}
	p := t.peers[q]
	if t.activate(p) {
		t.look(p, maxRecords)
		return
	}
	t.doorbells.Stop(q)
	t.look(p, maxRecords)
	if p.link != nil && p.link.In.Ready() {
		t.doorbells.Ring(q)
	}
}

// activate has a peer looked at in every Poll, if there aren't too many.
func (t *Transport) activate(p *peer) bool {
	if p.active || len(t.list) >= maxActive {
		return p.active
	}
	p.active, p.idle = true, 0
	t.list = append(t.list, p)
	t.skip[p.proc/64] |= 1 << (p.proc % 64)
	t.links.active.Store(true)
	return true
}

func (t *Transport) deactivate(p *peer) {
	if !p.active {
		return
	}
	p.active = false
	i := slices.Index(t.list, p)
	last := len(t.list) - 1
	t.list[i], t.list[last] = t.list[last], nil
	t.list = t.list[:last]
	t.skip[p.proc/64] &^= 1 << (p.proc % 64)
	t.links.active.Store(last > 0)
}

// stop retires an active peer.
func (t *Transport) stop(p *peer) {
	t.deactivate(p)
	t.doorbells.Stop(p.proc)
	if t.look(p, maxRecords); p.link != nil && p.link.In.Ready() {
		t.activate(p)
	}
}

// look moves what can be moved to and from a peer, so many records at most.
func (t *Transport) look(p *peer, most int) {
	t.take(p, most)
	if p.state == live && p.outbox.Len() > 0 {
		t.flush(p)
	}
}

// take takes in so many records at most of what a peer has written.
func (t *Transport) take(p *peer, most int) {
	for i := range most {
		if i > 0 && !p.link.In.Ready() {
			break
		}
		found, err := p.link.In.Next(&t.record)
		switch {
		case err != nil:
		case found == shm.Frame:
			t.moved++
			t.sink.Frame(p.proc, &t.record.Header, t.record.Payload())
		case found == shm.Stream:
			direct, rest := p.inbox.Space(t.buffer)
			n := p.link.In.Take(direct, rest)
			t.tell(p) // now: the writer goes on while this is looked through
			var frames int
			frames, err = p.inbox.Take(p.proc, t.buffer, n, t.sink)
			t.moved += max(frames, 1)
		}
		if p.state != live {
			return
		}
		if err != nil {
			t.logRefusal(fmt.Errorf("from %v: %w", p.proc, err), nil)
			t.end(p)
			return
		}
		if found == shm.Nothing {
			break
		}
	}
	t.tell(p)
}

// tell lets a peer have the room back that was read, and wakes it if it waits.
func (t *Transport) tell(p *peer) {
	if p.link.In.Tell() {
		p.link.Ring()
	}
}

// endLink is the end of a link: the peer is dead, or has closed its side. What it has
// written is there, as a whole, for no writer is left.
func (t *Transport) endLink(p *peer) {
	t.take(p, shm.MaxRecords)
	switch {
	case p.state != live:
	case p.exited:
		t.leave(p, transport.EvidenceExited)
	default:
		t.end(p)
	}
}
