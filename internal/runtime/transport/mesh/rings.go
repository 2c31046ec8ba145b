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

// rings are those of the peers that share memory with this process. Peers that have sent
// something lately are active: each Poll looks at their ring, whether their doorbell rings or
// not. So their doorbell keeps ringing, and its cache line stays in both sides' caches. Poll
// looks at the ring of any other peer when its doorbell rings.
//
// A thread that wants to wait must not overlook an active peer, but only the owner may look at a
// ring. So no thread waits while a peer is active: mayWait has the next Poll retire them all,
// which stops their doorbells and then looks at their rings for the last time.
type rings struct {
	doorbells *shm.Doorbells // this process's; nil: no shared memory
	list      []*peer        // the active peers
	skip      []uint64       // the same, a bit per Proc
	record    shm.Inbound
	busy      int // Polls in a row that found something

	active atomic.Bool // list isn't empty
	retire atomic.Bool // a thread wants to wait
}

const (
	// maxActive bounds how many rings a Poll looks at.
	maxActive = 16
	// maxIdlePolls is how often in a row an active peer's ring may be empty before the peer is
	// retired.
	maxIdlePolls = 4096
	// maxRecords is how many records of a peer one Poll takes in.
	maxRecords = 32
)

// mayWait says whether a thread may wait now. Any goroutine may call it.
func (t *Transport) mayWait() bool {
	if !t.active.Load() {
		return true
	}
	t.retire.Store(true)
	return false
}

// pollRings looks at the shared memory, and says whether this Poll should look at the sockets,
// too.
func (t *Transport) pollRings() bool {
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
			// To look for a second record is to wait for a cache line from the peer's core. If
			// the owner has polled in vain for this record, the two exchange single messages, and
			// there is no second one.
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

// rung answers the doorbell of a peer that isn't active, or this process's own (Nudge).
func (t *Transport) rung(q proto.Proc) {
	if q == t.table.self {
		t.doorbells.Stop(q)
		t.moved++
		return
	}
	if int(q) >= len(t.peers) || t.peers[q] == nil || t.peers[q].link == nil {
		t.doorbells.Stop(q) // the link isn't there yet, or no more, or never will be
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

// activate makes a peer active, if there aren't too many active ones, and says whether it is.
func (t *Transport) activate(p *peer) bool {
	if p.active || len(t.list) >= maxActive {
		return p.active
	}
	p.active, p.idle = true, 0
	t.list = append(t.list, p)
	t.skip[p.proc/64] |= 1 << (p.proc % 64)
	t.rings.active.Store(true)
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
	t.rings.active.Store(last > 0)
}

// stop retires an active peer.
func (t *Transport) stop(p *peer) {
	t.deactivate(p)
	t.doorbells.Stop(p.proc)
	if t.look(p, maxRecords); p.link != nil && p.link.In.Ready() {
		t.activate(p)
	}
}

// look moves what can be moved to and from a peer, but takes in at most so many records.
func (t *Transport) look(p *peer, most int) {
	t.take(p, most)
	if p.state == live && p.outbox.Len() > 0 {
		t.flush(p)
	}
}

// take takes in at most so many records that a peer has written.
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
			t.tell(p) // at once: the writer goes on while this process reads
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

// tell gives a peer the room back that was read, and wakes the peer if it waits for room.
func (t *Transport) tell(p *peer) {
	if p.link.In.Tell() {
		p.link.Ring()
	}
}

// endLink ends a link whose peer is dead, or has closed its side. No writer is left, so all that
// the peer has written is there.
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
