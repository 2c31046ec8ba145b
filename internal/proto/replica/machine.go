package replica

import (
	"fmt"
	"math/bits"

	"banyan/internal/channel"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Config says what a machine is part of.
type Config struct {
	Layout layout.Layout
	Self   proto.Proc
	// Mirror makes every replica of a sender send to every replica of the
	// receiver. It is the same at all processes.
	Mirror bool
	// Lead is by how much the program may have received more than a sibling's, as counted
	// by Received, before it is Throttled. 0: it never is. With Mirror only.
	MaxSkew uint64
	// Joins says that the process is a replacement. Until Restore it takes in only deaths,
	// departures and which other slots are joining.
	Joins bool
}

// Machine is the replication protocol at one process.
type Machine struct {
	layout layout.Layout
	self   proto.Proc
	rank   proto.Rank // of self
	mirror bool

	slots []layout.Slot // by process: the layout's
	peers []peers       // by rank: what is known here of its replicas
	// incarnations are by process the last one known here; nil while no slot
	// has been refilled.
	incarnations []proto.Incarnation
	// covers are the replica indexes of every destination that this process
	// sends to: its own, and those it substitutes. An index goes only when
	// its slot is refilled (see heal.go).
	covers replicas

	sending sendSide
	arrival receiveSide
	healing healing
	skew    skew // before kept: both end with a table that few messages need
	// kept are, by replica of the own rank, the dead that it said it covers. A
	// replacement doesn't cover them as well.
	kept [layout.MaxDegree]replicas
}

// peers are the replicas of one rank, as far as is known here.
type peers struct {
	present replicas // none of the following
	dead    replicas // or absent from the layout
	left    replicas // finalised in order; may yet be reported dead
	joining replicas // being refilled (see heal.go)
	// barred are replicas to which nothing is transmitted yet. They are the joining ones and, at a
	// replacement, those that its rank's substitute covered, until they
	// have acknowledged what that one sent them.
	barred replicas
}

// New returns the machine of a process, with all alive.
func New(cfg Config) *Machine {
	l := cfg.Layout
	if !l.Holds(cfg.Self) {
		panic(fmt.Sprintf("replica: no %v in a layout of %d", cfg.Self, l.Procs()))
	}
	m := &Machine{
		layout: l,
		self:   cfg.Self,
		rank:   l.Rank(cfg.Self),
		mirror: cfg.Mirror,
		slots:  l.Slots(),
		peers:  make([]peers, l.Ranks()),
		covers: only(l.Replica(cfg.Self)),
	}
	for r := range m.peers {
		absent := absentOf(l, proto.Rank(r))
		m.peers[r] = peers{present: allOf(l) &^ absent, dead: absent}
	}
	m.sending.channels = channel.New[outgoing](l.Ranks())
	m.arrival.channels = channel.New[incoming](l.Ranks())
	if cfg.Mirror {
		m.covers = allOf(l)
	}
	m.skew = newSkew(0)
	if cfg.Mirror {
		m.skew = newSkew(cfg.MaxSkew)
	}
	m.measure()
	m.substitute(nil) // the absent: there is nothing to send yet
	if cfg.Joins {
		m.healing.phase = blank
	}
	return m
}

// Dead says that an incarnation of p has died, or is excluded, which is the same.
// It changes nothing if that is known, if a later incarnation is known, or if p is this process
// itself.
//
// If p was a replica of this process's own rank, this process may become its
// substitute: it then sends what the receivers of p haven't acknowledged. That
// holds also for a p that had left, but died before its last frames were out.
func (m *Machine) Dead(p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	if p == m.self || !m.layout.Holds(p) || incarnation < m.incarnation(p) {
		return
	}
	m.setIncarnation(p, incarnation)
	rank, bit := m.layout.Rank(p), m.bit(p)
	peers := &m.peers[rank]
	if peers.dead&bit != 0 {
		return
	}
	peers.dead |= bit
	m.gone(rank, bit)
	if rank != m.rank {
		m.forget(rank, bit, out)
		m.redirect(p, out)
	}
	m.excuse(p, out)
	m.substitute(out)
}

// Left says that p finalised in order. It needs nothing more, and nothing more
// is needed from its rank, because it was Idle: every message that it sent, for itself or
// for the dead that it covered, has arrived or is on its way. So no process substitutes
// it, and its rank isn't lost.
func (m *Machine) Left(p proto.Proc, out *Actions) {
	if p == m.self || !m.layout.Holds(p) {
		return
	}
	rank, bit := m.layout.Rank(p), m.bit(p)
	m.peers[rank].left |= bit
	m.gone(rank, bit)
	if rank != m.rank {
		m.forget(rank, bit, out)
	}
	if m.healing.phase == preparing {
		m.abandon(out)
	} else {
		m.excuse(p, out)
	}
}

// gone notes that a replica is neither present nor joining any more.
func (m *Machine) gone(rank proto.Rank, bit replicas) {
	peers := &m.peers[rank]
	if peers.joining&bit != 0 {
		m.healing.joining--
	}
	peers.present &^= bit
	peers.joining &^= bit
	peers.barred &^= bit
	if rank == m.rank {
		m.measure()
	}
}

// Rank is the rank that process p of the layout runs.
func (m *Machine) Rank(p proto.Proc) proto.Rank { return m.slots[p].Rank }

// present are the replicas of r that take part, as far as is known here.
func (m *Machine) present(r proto.Rank) replicas { return m.peers[r].present }

// bit is a process as a set of replicas of its rank.
func (m *Machine) bit(p proto.Proc) replicas { return only(m.layout.Replica(p)) }

// substitute covers the dead of the own rank, if that is this process's duty.
func (m *Machine) substitute(out *Actions) {
	own := &m.peers[m.rank]
	if own.present.lowest() != m.layout.Replica(m.self) || m.healing.holdsBack(m.rank) {
		return
	}
	fresh := own.dead &^ m.covers
	for set := own.present; fresh != 0 && set != 0; set &= set - 1 {
		fresh &^= m.kept[set.lowest()]
	}
	if fresh != 0 {
		m.covers |= fresh
		m.resend(fresh, out)
	}
}

// Alive says whether p takes part: it isn't known dead, nor known to have left, nor
// joining.
func (m *Machine) Alive(p proto.Proc) bool {
	return m.layout.Holds(p) && m.present(m.layout.Rank(p))&m.bit(p) != 0
}

// Joining says whether a replacement in the slot of p has yet to join, as far as is known here.
func (m *Machine) Joining(p proto.Proc) bool {
	return m.layout.Holds(p) && m.peers[m.layout.Rank(p)].joining&m.bit(p) != 0
}

// Incarnation is the last one of p that is known here.
func (m *Machine) Incarnation(p proto.Proc) proto.Incarnation { return m.incarnation(p) }

// Lost says whether every replica of r has died. A rank of which one replica
// left in order is finished, not lost, and one that a replica is joining may yet
// be saved. A replacement knows none before it has its donor's state.
func (m *Machine) Lost(r proto.Rank) bool {
	return m.healing.phase != blank && m.peers[r].dead == allOf(m.layout) && m.peers[r].left == 0
}

// Source is the replica of r that this process receives from, now that it
// knows of certain deaths: the one with its own index, or else the lowest that
// is alive. NoProc if none is.
func (m *Machine) Source(r proto.Rank) proto.Proc {
	own := m.bit(m.self)
	switch present := m.present(r); {
	case present&own != 0:
		return m.layout.Proc(r, own.lowest())
	case present != 0:
		return m.layout.Proc(r, present.lowest())
	}
	return proto.NoProc
}

// Idle says whether this process may leave: it retains no message that another
// might need from it, owes no acknowledgement, and has no part in a healing.
func (m *Machine) Idle() bool {
	return m.sending.messages == 0 && m.arrival.owed == 0 && m.healing.idle()
}

// incarnation is the last one of p that is known here.
func (m *Machine) incarnation(p proto.Proc) proto.Incarnation {
	if m.incarnations == nil {
		return 0
	}
	return m.incarnations[p]
}

func (m *Machine) setIncarnation(p proto.Proc, incarnation proto.Incarnation) {
	if incarnation == m.incarnation(p) {
		return
	}
	if m.incarnations == nil {
		m.incarnations = make([]proto.Incarnation, m.layout.Procs())
	}
	m.incarnations[p] = incarnation
}

// lowest is the lowest replica of a set; 64 if it is empty.
func (s replicas) lowest() int { return bits.TrailingZeros64(uint64(s)) }
