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
}

// phase is how far the healing is at its donor or replacement.
type phase uint8

const (
	noPhase   phase = iota
	preparing       // donor, from Donate to AppendState
	restored        // replacement, from Restore to Commit
	committed       // replacement, until all have welcomed it
)

// idle says whether a process has no part in a healing.
func (h *healing) idle() bool { return h.joining == 0 && h.phase == noPhase }

// holdsBack says whether this process mustn't substitute now: a donor whose state
// is about to be taken transmits nothing, and a replacement first hears what its
// siblings cover.
func (h *healing) holdsBack(own proto.Rank) bool {
	return h.phase == preparing || h.phase == restored || h.phase == committed && h.awaited[own] != 0
}

// expect tells a note to every process that is present, and waits for the answers.
func (m *Machine) expect(n Note, phase phase, out *Actions) {
	h := &m.healing
	h.replacement, h.incarnation, h.phase = n.Replacement, n.Incarnation, phase
	h.awaited = make([]replicas, len(m.peers))
	for p := range proto.Proc(m.layout.Procs()) {
		if p != m.self && m.Alive(p) {
			h.awaited[m.layout.Rank(p)] |= m.bit(p)
			h.missing++
			out.tell(p, n)
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
// result is false, if a rendezvous is being sent, another healing
// isn't over, or a process has left, because then the job is ending. (If the others took the donor
// for dead, by mistake, it could mistake their leaving for their answer.)
func (m *Machine) Donate(replacement proto.Proc, incarnation proto.Incarnation, out *Actions) bool {
	if replacement == m.self || !m.layout.Holds(replacement) || m.layout.Rank(replacement) != m.rank ||
		incarnation <= m.incarnation(replacement) || !m.healing.idle() {
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
		if m.Alive(from) && m.layout.Rank(from) == m.layout.Rank(n.Replacement) && n.Replacement != m.self &&
			n.Incarnation > m.incarnation(n.Replacement) {
			m.FlushAcks(out)
			m.admit(n.Replacement, n.Incarnation, out)
			m.inherit(n.Replacement, from)
			out.tell(from, Note{Kind: Prepared, Replacement: n.Replacement, Incarnation: n.Incarnation})
		}
	case Prepared:
		if h.phase == preparing && n.Replacement == h.replacement && n.Incarnation == h.incarnation && h.missing > 0 {
			m.answered(from)
			m.handOver(out)
		}
	case Joined:
		if from == n.Replacement && n.Incarnation == m.incarnation(from) && m.peers[m.layout.Rank(from)].joining&m.bit(from) != 0 {
			m.joined(from, out)
			out.tell(from, Note{Welcome, from, n.Incarnation, uint64(m.covers)})
		}
	case Welcome:
		if h.phase == committed && n.Replacement == m.self && n.Incarnation == h.incarnation && m.Alive(from) {
			m.welcomed(from, replicas(n.Covers), out)
		}
	}
}

// Commit makes a replacement that has Restored its donor's state a replica, and tells all so.
// From here on it stays, even if its donor dies. It takes in deaths that it hears of
// between Restore and Commit by Dead, as always.
func (m *Machine) Commit(out *Actions) {
	m.expect(Note{Kind: Joined, Replacement: m.self, Incarnation: m.incarnation(m.self)}, committed, out)
	for r := range m.peers {
		if peers := &m.peers[r]; proto.Rank(r) != m.rank {
			peers.barred |= peers.present & m.covers
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
	if m.healing.missing == 0 {
		return
	}
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
	m.substitute(out)
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
