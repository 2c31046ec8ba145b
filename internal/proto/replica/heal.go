package replica

import "banyan/internal/proto"

// NoteKind says what a Note says.
type NoteKind uint8

// Kinds of notes, in the order in which they travel.
const (
	// Prepare, from the donor to all: the slot is about to be refilled.
	Prepare NoteKind = iota + 1
	// Prepared is the answer.
	Prepared
	// Joined, from the replacement to all: it has the donor's state.
	Joined
	// Welcome is the answer.
	Welcome
)

// Note is a part of the conversation by which a slot is refilled. A driver
// sends it in order with the messages and acknowledgements.
type Note struct {
	Kind        NoteKind
	Replacement proto.Proc        // the slot
	Incarnation proto.Incarnation // of the replacement
	Covers      uint64            // Welcome: what the sender covers; opaque
}

// NoteOf is the note of a Tell.
func (a *Action) NoteOf() Note {
	return Note{Kind: a.Note, Replacement: a.Replacement, Incarnation: a.Incarnation, Covers: a.Context}
}

// healing is what a process remembers of a slot that is being refilled.
type healing struct {
	joining int // slots that are joining, as far as is known here

	// At a donor, until AppendState; at a replacement, until all have welcomed it.
	replacement proto.Proc
	incarnation proto.Incarnation
	phase       phase
	awaited     []replicas // by rank: those that haven't answered
	missing     int        // of them

	// early are notes that have come and don't count yet: at a donor that prepares, Joined and
	// Welcome; at a replacement before Restore, Prepare.
	early []received
}

// received is a note with its sender.
type received struct {
	from proto.Proc
	Note
}

// phase is how far the healing is at its donor or replacement.
type phase uint8

const (
	noPhase   phase = iota
	blank           // replacement, until Restore
	preparing       // donor, from Donate to AppendState
	restored        // replacement, from Restore to Commit
	committed       // replacement, until all have welcomed it
)

// idle says whether a process has no part in a healing.
func (h *healing) idle() bool { return h.joining == 0 && h.phase == noPhase }

// takesPart says whether p is a replica that is present or joining.
func (m *Machine) takesPart(p proto.Proc) bool {
	peers := &m.peers[m.layout.Rank(p)]
	return (peers.present|peers.joining)&m.bit(p) != 0
}

// holdsBack says whether this process mustn't substitute now: a donor whose state
// is about to be taken transmits nothing, and a replacement first hears what its
// siblings cover.
func (h *healing) holdsBack(own proto.Rank) bool {
	return h.phase == preparing || h.phase == restored || h.phase == committed && h.awaited[own] != 0
}

// expect tells a note to every process that is present or joining. It waits for the answers; a
// replacement doesn't wait for others.
func (m *Machine) expect(n Note, phase phase, out *Actions) {
	h := &m.healing
	h.replacement, h.incarnation, h.phase = n.Replacement, n.Incarnation, phase
	h.awaited = make([]replicas, len(m.peers))
	for p := range proto.Proc(m.layout.Procs()) {
		if p == m.self || p == n.Replacement || !m.takesPart(p) {
			continue
		}
		out.tell(p, n)
		if phase == preparing || m.Alive(p) {
			h.awaited[m.layout.Rank(p)] |= m.bit(p)
			h.missing++
		}
	}
}

// answered notes that a process has answered, or won't.
func (m *Machine) answered(p proto.Proc) {
	h := &m.healing
	if h.missing == 0 {
		return
	}
	if rank, bit := m.layout.Rank(p), m.bit(p); h.awaited[rank]&bit != 0 {
		h.awaited[rank] &^= bit
		h.missing--
	}
}

// Donate begins to fill a dead slot of this process's rank with its own state,
// at a safe point of its program. From here to AppendState the program is
// paused: it sends nothing, and completes no rendezvous. Nothing happens, and the
// result is false, if a rendezvous is being sent, another slot of the rank is joining, this process
// has a part in another healing, or a process has left, because then the job is ending. (If the
// others took the donor for dead, by mistake, it could mistake their leaving for their answer.)
func (m *Machine) Donate(replacement proto.Proc, incarnation proto.Incarnation, out *Actions) bool {
	if replacement == m.self || !m.layout.Holds(replacement) || m.layout.Rank(replacement) != m.rank ||
		incarnation <= m.incarnation(replacement) || m.healing.phase != noPhase || m.peers[m.rank].joining != 0 {
		return false
	}
	for msg := range m.Kept() {
		if msg.Rendezvous {
			return false
		}
	}
	for i := range m.peers {
		if m.peers[i].left != 0 {
			return false
		}
	}
	m.FlushAcks(out)
	m.admit(replacement, incarnation, out)
	m.expect(Note{Kind: Prepare, Replacement: replacement, Incarnation: incarnation}, preparing, out)
	m.handOver(out)
	return true
}

// handOver asks for the state when all have answered.
func (m *Machine) handOver(out *Actions) {
	if h := &m.healing; h.phase == preparing && h.missing == 0 {
		out.healing(Handover, h.replacement, h.incarnation)
	}
}

// Noted takes in a note. Those of an attempt that is over have no effect.
//
// A Prepare may come before the news of the slot's last death, and proves it. If
// the driver has to do something of its own at a death, such as voiding transfers to the
// dead, it does that first.
func (m *Machine) Noted(from proto.Proc, n Note, out *Actions) {
	if !m.layout.Holds(from) || !m.layout.Holds(n.Replacement) {
		return
	}
	h := &m.healing
	switch n.Kind {
	case Prepare:
		if m.prepare(from, n, out) {
			out.tell(from, Note{Kind: Prepared, Replacement: n.Replacement, Incarnation: n.Incarnation})
		}
	case Prepared:
		if h.phase == preparing && n.Replacement == h.replacement && n.Incarnation == h.incarnation && h.missing > 0 {
			m.answered(from)
			m.handOver(out)
		}
	case Joined, Welcome:
		switch {
		case h.phase == blank:
		case h.phase == preparing:
			h.early = append(h.early, received{from, n})
		case n.Kind == Joined && from == n.Replacement && n.Incarnation == m.incarnation(from) && m.takesPart(from):
			m.admitted(from, out)
		case n.Kind == Welcome && n.Replacement == m.self && n.Incarnation == m.incarnation(m.self) && m.Alive(from):
			m.welcomed(from, replicas(n.Covers), out)
		}
	}
}

// prepare makes a slot one that is joining, and reports whether it is: its replacement may be dead
// already. A replacement without state remembers that for Restore.
func (m *Machine) prepare(donor proto.Proc, n Note, out *Actions) bool {
	h, q := &m.healing, n.Replacement
	switch known := m.incarnation(q); {
	case m.layout.Rank(donor) != m.layout.Rank(q) || q == m.self || n.Incarnation < known:
		return false
	case n.Incarnation == known: // it may be joining in the state of this process's donor
		return m.peers[m.layout.Rank(q)].joining&m.bit(q) != 0
	case h.phase == blank:
		h.early = append(h.early, received{donor, n})
		return true
	case !m.takesPart(donor):
		return false
	}
	m.FlushAcks(out)
	m.admit(q, n.Incarnation, out)
	m.inherit(q, donor)
	return true
}

// admitted makes a replacement that says that it has joined a replica like any other, and welcomes
// it. If this process was a replacement, too, the other one may not know that it has joined.
func (m *Machine) admitted(q proto.Proc, out *Actions) {
	if !m.Alive(q) {
		if m.replaces() {
			out.tell(q, Note{Kind: Joined, Replacement: m.self, Incarnation: m.incarnation(m.self)})
		}
		m.joined(q, out)
	}
	out.tell(q, Note{Welcome, q, m.incarnation(q), uint64(m.covers)})
}

// replaces says whether this process was started as a replacement.
func (m *Machine) replaces() bool { return m.incarnation(m.self) > 0 }

// Commit makes a replacement that has Restored its donor's state a replica, and tells all so.
// From here on it stays, even if its donor dies. It takes in deaths that it hears of
// between Restore and Commit by Dead, as always.
func (m *Machine) Commit(out *Actions) {
	m.expect(Note{Kind: Joined, Replacement: m.self, Incarnation: m.incarnation(m.self)}, committed, out)
	for r := range m.peers {
		if peers := &m.peers[r]; proto.Rank(r) != m.rank {
			peers.barred |= peers.present
			m.oweAnew(proto.Rank(r))
		}
	}
	m.FlushAcks(out)
	m.Report(out)
	m.substitute(out)
	m.settled(out)
}

// welcomed takes in that a process knows this replacement.
func (m *Machine) welcomed(p proto.Proc, covers replicas, out *Actions) {
	rank, bit := m.layout.Rank(p), m.bit(p)
	m.answered(p)
	if rank == m.rank {
		m.kept[m.layout.Replica(p)] = covers
	} else {
		m.peers[rank].barred &^= bit
		m.open(rank, bit, out)
	}
	m.substitute(out)
	m.settled(out)
}

// settled says so when all know the replacement.
func (m *Machine) settled(out *Actions) {
	if h := &m.healing; h.phase == committed && h.missing == 0 {
		h.phase = noPhase
		out.healing(Healed, h.replacement, h.incarnation)
	}
}

// abandon ends a donation without a state.
func (m *Machine) abandon(out *Actions) {
	h := &m.healing
	h.phase, h.missing = noPhase, 0
	out.healing(Abandoned, h.replacement, h.incarnation)
	m.resume(out)
}

// resume does what a donor has put off while it prepared.
func (m *Machine) resume(out *Actions) {
	m.substitute(out)
	early := m.healing.early
	m.healing.early = nil
	for _, n := range early {
		m.Noted(n.from, n.Note, out)
	}
}

// excuse stops a healing from waiting for a process that is dead or has left.
func (m *Machine) excuse(p proto.Proc, out *Actions) {
	h := &m.healing
	if h.phase == preparing && p == h.replacement {
		m.abandon(out)
	}
	if h.missing > 0 {
		m.answered(p)
		m.handOver(out)
		if h.phase == committed {
			m.substitute(out)
			m.settled(out)
		}
	}
}
