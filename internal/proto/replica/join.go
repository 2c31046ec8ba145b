package replica

import "banyan/internal/proto"

// This file changes the marks, the acknowledgements and the covers when a
// slot begins to join and when it has joined. The conversation is in heal.go.

// admit makes a slot one that is joining.
func (m *Machine) admit(p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	m.Dead(p, incarnation-1, out)
	m.setIncarnation(p, incarnation)
	rank, bit := m.layout.Rank(p), m.bit(p)
	peers := &m.peers[rank]
	peers.dead &^= bit
	peers.left &^= bit
	peers.joining |= bit
	peers.barred |= bit
	m.healing.joining++
	if rank != m.rank {
		return
	}
	// A sibling that said that it covers the slot may stop from now on, even if this
	// process never hears why; and what the slot itself said is void.
	for i := range m.kept {
		m.kept[i] &^= bit
	}
	m.kept[m.layout.Replica(p)] = 0
}

// inherit makes a slot that is joining need what its donor needs, and nothing
// else: what was known of the slot before concerned another incarnation.
func (m *Machine) inherit(p, donor proto.Proc) {
	rank := m.layout.Rank(p)
	if rank == m.rank {
		return
	}
	slot, bit, from := m.layout.Replica(p), m.bit(p), m.bit(donor)
	for _, c := range m.sending.channels.All() {
		if c.dst != rank {
			continue
		}
		c.acked[slot] = c.acked[m.layout.Replica(donor)]
		for seq, set := range c.early { // in no order: each by itself
			if set &^= bit; set&from != 0 {
				set |= bit
			}
			c.early[seq] = set //banyan:maporder each by itself
		}
		for i := range c.retained.size {
			if e := c.retained.at(i); e.open && e.value.pending&from != 0 {
				e.value.pending |= bit
			}
		}
	}
	for _, c := range m.arrival.channels.All() {
		if c.src == rank {
			c.known[slot] = c.known[m.layout.Replica(donor)] // so much it had from here before this answer
		}
	}
	for i := range m.arrival.deferred {
		if s := &m.arrival.deferred[i]; s.channel.src == rank {
			s.to &^= bit
		}
	}
}

// joined makes a slot that was joining a replica like any other.
func (m *Machine) joined(p proto.Proc, out *Actions) {
	rank, bit := m.layout.Rank(p), m.bit(p)
	peers := &m.peers[rank]
	peers.joining &^= bit
	if !m.replaces() { // else its welcome comes first
		peers.barred &^= bit
	}
	peers.present |= bit
	m.healing.joining--
	if rank == m.rank {
		if !m.mirror {
			m.covers &^= bit
		}
		m.welcome(bit, out)
		return
	}
	m.open(rank, bit, out)
	m.oweAnew(rank)
	kept := m.arrival.deferred[:0]
	for _, s := range m.arrival.deferred {
		if s.channel.src == rank && s.to&bit != 0 {
			m.oweSingle(s.channel, s.seq, bit)
			s.to &^= bit
		}
		if s.to != 0 {
			kept = append(kept, s)
		}
	}
	clear(m.arrival.deferred[len(kept):])
	m.arrival.deferred = kept
	m.FlushAcks(out)
}

// open transmits what was held back for replicas of another rank, as far as this
// process covers them.
func (m *Machine) open(dst proto.Rank, opened replicas, out *Actions) {
	for _, c := range m.sending.channels.All() {
		if c.dst == dst {
			m.resendChannel(c, m.covers&opened, out)
		}
	}
}

// oweAnew makes the next flush tell the replicas of src what they don't know, on
// every channel.
func (m *Machine) oweAnew(src proto.Rank) {
	if m.mirror {
		return
	}
	for _, c := range m.arrival.channels.All() {
		if c.src == src && c.arrived > 0 {
			m.owe(c)
		}
	}
}

// Covers says whether this process sends to the receivers with a replica index.
func (m *Machine) Covers(replica int) bool { return m.covers&only(replica) != 0 }

// Lacks says whether a replica has yet to complete a rendezvous of this process's rank, sent here
// or not yet, as far as this process knows. A replacement that has joined has its donor's completed
// rendezvous.
func (m *Machine) Lacks(context uint64, dst proto.Rank, seq uint64, replica int) bool {
	c := m.sending.channels.Find(context, dst)
	switch {
	case c == nil:
		return true
	case seq > c.sent:
		return c.early[seq]&only(replica) == 0
	}
	e := c.retained.find(seq)
	return e != nil && e.value.pending&only(replica) != 0
}
