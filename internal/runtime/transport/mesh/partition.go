package mesh

import (
	"context"
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/transport"
)

// A process that was found silent may live on the other side of a network cut, and take this side
// for dead in turn. When the network heals, one side has to stop. If only one side has excluded
// the other, the excluded side stops; if both have, the weaker one. This file finds out which.
//
// Both sides go on while the cut lasts, unless a view of the membership decides earlier.

// standing is how strong a side of a partition is, as one of its members sees it.
type standing struct {
	// settled says that the member has excluded nobody for a while. A process that is alone finds
	// the others silent one by one, which takes time; what it believes meanwhile doesn't count.
	settled bool
	live    int        // processes that the member hasn't excluded
	lowest  proto.Proc // of them
	member  proto.Proc
}

// beats says whether the side of s goes on and that of o stops. The side with more processes
// wins, then the side with the lowest one. Members of disjoint sides all come to the same result.
func (s standing) beats(o standing) bool {
	switch {
	case s.live != o.live:
		return s.live > o.live
	case s.lowest != o.lowest:
		return s.lowest < o.lowest
	}
	return s.member < o.member
}

// standingSize is the room for a standing in an answer: a byte and two numbers of three bytes.
const standingSize = answerSize - 1

func (s standing) encode(b []byte) {
	clear(b[:standingSize])
	if s.settled {
		b[0] = 1
	}
	put24(b[1:], s.live)
	put24(b[4:], int(s.lowest))
}

func decodeStanding(b []byte, member proto.Proc) standing {
	return standing{settled: b[0] == 1, live: get24(b[1:]), lowest: proto.Proc(get24(b[4:])), member: member}
}

func put24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
func get24(b []byte) int    { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// standing is this process's own.
func (t *linkTable) standing() standing {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := standing{settled: time.Since(t.excluded) >= t.settle, lowest: proto.NoProc, member: t.self}
	for p, l := range t.links {
		if l == linkFenced {
			continue
		}
		s.live++
		if s.lowest == proto.NoProc {
			s.lowest = proto.Proc(p)
		}
	}
	return s
}

const (
	// The pause between two attempts to tell a peer is this share of the time that was spent in
	// vain, between these bounds.
	tellShare    = 8
	tellMinPause = 200 * time.Millisecond
	tellMaxPause = 10 * time.Second
)

// Tell lets a fenced peer know that it is excluded, as soon as the peer can be reached. It blocks
// until the peer knows, has ended, or turns out to be on the side that goes on: then this process
// gets the eviction notice (Sink.Closed). It also ends with Close. It may run beside all other
// methods.
func (t *Transport) Tell(who proto.Proc) {
	card, err := t.dialler.resolve(who)
	if err != nil {
		t.logRefusal(fmt.Errorf("tell %v that it is excluded: %w", who, err), nil)
		return
	}
	for start := time.Now(); ; {
		if t.dialler.settle(t.ctx, who, card) {
			return
		}
		handshake.Pause(t.ctx, min(max(time.Since(start)/tellShare, tellMinPause), tellMaxPause))
		if t.ctx.Err() != nil {
			return
		}
	}
}

// settle makes one attempt to settle with a fenced peer which of the two stops. It says whether
// that is settled.
func (d *dialler) settle(ctx context.Context, who proto.Proc, card Card) bool {
	end := d.watch(card.Host == d.card.Host, card.Pid, card.Start)
	end.close()
	if end.exited {
		return true
	}
	own := d.table.standing()
	if !own.settled {
		return false
	}
	v, theirs, err := d.question(ctx, who, card, toCompare)
	switch {
	case err != nil || v == eviction && !theirs.settled:
		return false // a refused connection too: a firewall may have refused it
	case v == eviction && theirs.beats(own):
		d.table.post(news{peer: who, incarnation: card.Incarnation, kind: ended, why: transport.EvidenceEviction})
		return true
	}
	v, _, err = d.question(ctx, who, card, toTell)
	return err == nil && v == acknowledged
}
