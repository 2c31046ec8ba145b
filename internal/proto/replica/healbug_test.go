package replica

import "banyan/internal/proto"

// Mistakes that an implementation of healing could make.
const (
	// The donor's state is taken before all have prepared.
	stateTooEarly bug = "state before all have prepared"
	// The donor becomes the substitute of a sibling between asking and its state.
	donorSubstitutes bug = "the donor substitutes while it prepares"
	// Messages pending for the donor aren't marked as pending for the replacement.
	marksNotCopied bug = "pending marks not copied"
	// Messages sent while the slot is joining aren't kept for it.
	joiningForgotten bug = "nothing kept for the joining"
	// The acknowledgements of the slot's earlier process count for the replacement.
	oldAcks bug = "acknowledgements of the earlier incarnation"
	// The same mistake with a rendezvous.
	oldSingles bug = "single acknowledgements of the earlier incarnation"
	// Messages that arrived while the slot was joining aren't acknowledged to the replacement.
	notAnew bug = "no acknowledgements for the replacement"
	// Rendezvous completed before PREPARED aren't acknowledged before it.
	noFlush bug = "no flush before prepared"
	// Rendezvous completed while the slot is joining aren't acknowledged after that.
	singlesNotDeferred bug = "no deferred single acknowledgements"
	// A replacement doesn't acknowledge the messages that its donor received.
	silentReplacement bug = "the replacement doesn't acknowledge"
	// A PREPARE that comes after the replacement's death counts.
	latePrepare bug = "a late prepare counts"
	// The substitute doesn't stop when the replacement has joined.
	noStop bug = "the substitute doesn't stop"
	// A replacement that hears of another that has joined doesn't say that it has joined, too.
	joinedOnce bug = "joined isn't repeated"
	// A donor that prepares makes a replacement present at once, and sends to it.
	joinedAtOnce bug = "joined isn't put off"
	// A replacement without state forgets what other slots are joining.
	foretoldForgotten bug = "what was foretold is forgotten"
	// A donor doesn't tell the slots that are joining that another one is.
	joiningUntold bug = "the joining aren't told"
	// The replacement covers messages that another process covers.
	coversIgnored bug = "covered twice"
)

// donated is called after Donate.
func (b bug) donated(n *node, out *Actions) {
	for i := range *out {
		if a := &(*out)[i]; b == joiningUntold && a.Kind == Tell && n.m.Joining(a.To) {
			a.Kind = 0
			n.m.answered(a.To)
			n.m.handOver(out)
		}
	}
	if h := &n.m.healing; b == stateTooEarly && h.missing > 0 {
		clear(h.awaited)
		h.missing = 0
		n.m.handOver(out)
	}
}

// noted replaces Noted.
func (b bug) noted(n *node, from proto.Proc, note Note, out *Actions) {
	m, q := n.m, note.Replacement
	slot, bit, rank := m.layout.Replica(q), m.bit(q), m.layout.Rank(q)
	type past struct {
		acked   uint64
		early   map[uint64]bool
		pending map[uint64]replicas
	}
	pasts := make(map[*outgoing]past)
	if note.Kind == Prepare {
		for _, c := range m.sending.channels.All() {
			p := past{c.acked[slot], make(map[uint64]bool), make(map[uint64]replicas)}
			for seq, set := range c.early {
				p.early[seq] = set&bit != 0
			}
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open {
					p.pending[e.seq] = e.value.pending
				}
			}
			if c.dst == rank {
				pasts[c] = p
			}
		}
	}
	var singles []single
	switch {
	case b == noFlush && note.Kind == Prepare:
		singles, m.arrival.singles = m.arrival.singles, nil
		m.arrival.owed -= len(singles)
	case b == notAnew && note.Kind == Joined && rank != m.rank:
		for _, c := range m.arrival.channels.All() {
			c.known[slot] = c.arrived
		}
	case b == singlesNotDeferred && note.Kind == Joined:
		m.arrival.deferred = nil
	case b == latePrepare && note.Kind == Prepare && m.incarnation(q) == note.Incarnation && m.peers[rank].dead&bit != 0:
		m.incarnations[q]--
	case b == coversIgnored && note.Kind == Welcome:
		note.Covers = 0
	}
	covers, before := m.covers, len(*out)
	if phase := m.healing.phase; b == joinedAtOnce && phase == preparing && note.Kind == Joined {
		m.healing.phase = noPhase
		m.Noted(from, note, out)
		m.healing.phase = phase
		return
	}
	m.Noted(from, note, out)
	for i := before; i < len(*out); i++ {
		if a := &(*out)[i]; b == joinedOnce && a.Kind == Tell && a.Note == Joined {
			a.Kind = 0
		}
	}
	if b == foretoldForgotten && m.healing.phase == blank {
		m.healing.early = nil
	}
	if b == noStop {
		m.covers = covers
	}
	if b == noFlush && singles != nil {
		m.arrival.owed += len(singles)
		m.arrival.singles = singles
	}
	if note.Kind != Prepare || m.peers[rank].joining&bit == 0 {
		return
	}
	for c, p := range pasts {
		switch b {
		case oldAcks:
			c.acked[slot] = max(c.acked[slot], p.acked)
		case oldSingles:
			for seq, old := range p.early {
				if old {
					c.early[seq] |= bit
				}
			}
		case marksNotCopied:
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open {
					e.value.pending &= p.pending[e.seq]
				}
			}
		}
	}
}

// committed is called after Commit.
func (b bug) committed(out Actions) {
	for i := range out {
		if b == silentReplacement && out[i].Kind == Acknowledge {
			out[i].Kind = 0
		}
	}
}
