package process

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Wait is an operation that was started and hasn't ended.
type Wait struct {
	Receives   bool       // or sends
	Peer       proto.Rank // in the world; AnyRank: any source
	Tag        int32      // AnyTag: any; 0 of what is part of a collective
	Bytes      int        // of the message, or the room for it
	Collective bool       // it is part of a collective
	Matched    bool       // the message is here, its data is on the way
	Agrees     bool       // it is an agreement, which waits for Peer
	Cancels    bool       // its receiver is asked whether it can still be cancelled
	Ahead      bool       // it has been sent: this process is throttled until another replica catches up
}

// String says what is waited for.
func (w Wait) String() string {
	tag := fmt.Sprintf(" with tag %d", w.Tag)
	switch {
	case w.Collective:
		tag = ""
	case w.Tag < 0:
		tag = " with any tag"
	}
	switch {
	case w.Agrees:
		return fmt.Sprintf("for %v in an agreement", w.Peer)
	case w.Ahead:
		return fmt.Sprintf("for another replica of its rank, which is behind, after sending %s%s to %v", inBytes(w.Bytes), tag, w.Peer)
	case w.Cancels:
		return fmt.Sprintf("for %v to say whether a send to it is cancelled", w.Peer)
	case !w.Receives:
		return fmt.Sprintf("for %v to receive %s%s", w.Peer, inBytes(w.Bytes), tag)
	case w.Matched:
		return fmt.Sprintf("for the data of a message from %v%s", w.Peer, tag)
	case w.Peer == proto.AnyRank:
		return fmt.Sprintf("for a message from any rank%s", tag)
	}
	return fmt.Sprintf("for a message from %v%s", w.Peer, tag)
}

// Waits are the operations of the program that haven't ended.
func (p *Process) Waits() (all []Wait) {
	for _, what := range p.through.probes {
		if what.context%2 == 1 || what.tag == NoMessage {
			continue // what collectives and calls through common memory wait for, the engine tells
		}
		all = append(all, Wait{Receives: true, Peer: what.src, Tag: what.tag})
	}
	all = p.agreementWaits(all)
	ahead := p.replicated && (p.replica.Throttled() || !p.retainsLittle())
	p.requests.each(func(h Handle, r *request) {
		w := Wait{Receives: r.kind != sending && r.kind != retracting, Cancels: r.asksBack, Peer: r.peer, Tag: r.tag, Bytes: len(r.buffer)}
		c := p.contexts.find(r.context)
		switch {
		case r.done || r.kind == composite:
			return
		case r.kind == broadcasting:
			if w.Collective, w.Tag = true, 0; c != nil {
				w.Peer = c.members[r.peer]
			}
			if w.Peer == p.rank {
				return // it waits for no rank in particular
			}
		default:
			w.Collective = c != nil && c.collective
			w.Matched = r.kind == receiving && r.arrival != (Handle{})
			w.Ahead = ahead && slices.Contains(p.sends.throttled, h)
		}
		if w.Matched {
			w.Peer, w.Tag = r.status.Source, r.status.Tag
		}
		all = append(all, w)
	})
	return all
}

// Finishing says that the program is through, and waits for the other processes to be.
func (p *Process) Finishing() bool { return p.lifecycle.finishing }
