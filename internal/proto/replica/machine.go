package replica

import (
	"fmt"
	"math/bits"

	"banyan/internal/proto"
)

// Machine is the replication protocol at one process.
type Machine struct {
	layout Layout
	self   proto.Proc
	rank   proto.Rank // of self

	// What is known here of the replicas of each rank. They only grow; a
	// process that left may yet be reported dead.
	dead, left []replicas
	// covers are the replica indexes of every destination that this process
	// sends to: its own, and those it substitutes. It never shrinks, so each
	// message is transmitted to each replica at most once.
	covers replicas

	sending sendSide
	arrival receiveSide
}

// New returns the machine of process self, with everybody alive.
func New(l Layout, self proto.Proc) *Machine {
	if l.Ranks < 1 || l.Degree < 1 || l.Degree > MaxDegree || !l.holds(self) {
		panic(fmt.Sprintf("replica: no %v in %d ranks of degree %d", self, l.Ranks, l.Degree))
	}
	m := &Machine{
		layout: l,
		self:   self,
		rank:   l.Rank(self),
		dead:   make([]replicas, l.Ranks),
		left:   make([]replicas, l.Ranks),
		covers: only(l.Replica(self)),
	}
	m.sending.byKey = make(map[key]*outgoing)
	m.arrival.byKey = make(map[key]*incoming)
	return m
}

// key names a channel: a context and the rank at the other end.
type key struct {
	context uint64
	peer    proto.Rank
}

// Dead says that p has died, or is excluded, which is the same. Telling it
// again changes nothing, and neither does telling it of this process itself.
//
// If p was a replica of this process's own rank, this process may become its
// substitute: it then sends what the receivers of p haven't acknowledged. That
// holds also for a p that had left, but died before its last frames were out.
func (m *Machine) Dead(p proto.Proc, out *Actions) {
	if p == m.self || !m.layout.holds(p) {
		return
	}
	rank, replica := m.layout.Rank(p), m.layout.Replica(p)
	m.dead[rank] |= only(replica)
	if rank == m.rank {
		m.substitute(out)
	} else {
		m.forget(rank, only(replica), out)
	}
}

// Left says that p finalised in order. It needs nothing more, and nothing more
// is needed from its rank, for it was Idle: every message it sent, for itself or
// for the dead it covered, has arrived or is on its way. So nobody substitutes
// it, and its rank isn't lost.
func (m *Machine) Left(p proto.Proc, out *Actions) {
	if p == m.self || !m.layout.holds(p) {
		return
	}
	rank, replica := m.layout.Rank(p), m.layout.Replica(p)
	m.left[rank] |= only(replica)
	if rank != m.rank {
		m.forget(rank, only(replica), out)
	}
}

// present are the replicas of r that are neither dead nor have left, as far as
// is known here.
func (m *Machine) present(r proto.Rank) replicas {
	return m.layout.all() &^ m.dead[r] &^ m.left[r]
}

// substitute covers the dead of the own rank, if it falls to this process.
func (m *Machine) substitute(out *Actions) {
	if m.layout.Proc(m.rank, m.present(m.rank).lowest()) != m.self {
		return
	}
	fresh := m.dead[m.rank] &^ m.covers
	m.covers |= fresh
	m.resend(fresh, out)
}

// Alive says whether p is neither known dead nor known to have left.
func (m *Machine) Alive(p proto.Proc) bool {
	return m.layout.holds(p) && m.present(m.layout.Rank(p))&only(m.layout.Replica(p)) != 0
}

// Lost says whether every replica of r has died. A rank of which one replica
// left in order is finished, not lost.
func (m *Machine) Lost(r proto.Rank) bool { return m.dead[r] == m.layout.all() && m.left[r] == 0 }

// Source is the replica of r that this process receives from, now that it
// knows of certain deaths: the one with its own index, or else the lowest that
// is alive. NoProc if none is.
func (m *Machine) Source(r proto.Rank) proto.Proc {
	own := m.layout.Replica(m.self)
	switch present := m.present(r); {
	case present&only(own) != 0:
		return m.layout.Proc(r, own)
	case present != 0:
		return m.layout.Proc(r, present.lowest())
	}
	return proto.NoProc
}

// Idle says whether this process may leave: it retains no message that another
// might need from it, and owes no acknowledgement.
func (m *Machine) Idle() bool { return m.sending.messages == 0 && m.arrival.owed == 0 }

// lowest is the lowest replica of a set that isn't empty.
func (s replicas) lowest() int { return bits.TrailingZeros64(uint64(s)) }
