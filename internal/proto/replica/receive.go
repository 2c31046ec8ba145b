package replica

import "banyan/internal/proto"

// receiveSide is what a process keeps as a receiver.
type receiveSide struct {
	byKey   map[key]*incoming
	dirty   []*incoming // channels with owed > 0, in the order they came to it
	singles []single    // owed for rendezvous, in the order of completion
	owed    int         // arrivals and completions not yet acknowledged
}

// incoming is the channel from another rank to this process in one context.
type incoming struct {
	context uint64
	src     proto.Rank
	arrived uint64 // number of the last message accepted: 1…arrived have come
	owed    int    // eager arrivals since the last flush
	// known is, by replica of src, up to where it knows that this process
	// needs no eager message from it: what it was told, or sent itself.
	known []uint64
	// offers are the rendezvous that aren't complete, with the sender from
	// which each is to be pulled.
	offers window[proto.Proc]
}

// single is the acknowledgement of one rendezvous, owed to a set of replicas.
type single struct {
	channel *incoming
	seq     uint64
	to      replicas
}

// Verdict says what to do with a message that has arrived.
type Verdict uint8

// Verdicts.
const (
	// Accept: it is new and the next in order. Match it.
	Accept Verdict = iota + 1
	// Duplicate: it is here already, or on its way from a better sender. Drop it.
	Duplicate
	// Reoffer: a rendezvous that is known but incomplete is offered by the
	// substitute of its sender. Abandon any data of the earlier sender, also
	// what may still come, and pull from this one, now if the earlier had
	// been pulled, else when it is matched.
	Reoffer
	// Excluded: the sender is known dead. Drop it and answer with an obituary.
	Excluded
	// Invalid: impossible from a correct peer, such as a gap in the numbers.
	Invalid
)

func (v Verdict) String() string {
	switch v {
	case Accept:
		return "accept"
	case Duplicate:
		return "duplicate"
	case Reoffer:
		return "reoffer"
	case Excluded:
		return "excluded"
	case Invalid:
		return "invalid"
	}
	return "no verdict"
}

// Arrive judges a message (or the offer of a rendezvous) that has arrived from
// the process from, a replica of the source rank.
func (m *Machine) Arrive(from proto.Proc, context uint64, seq uint64, rendezvous bool) Verdict {
	if !m.layout.holds(from) || m.layout.Rank(from) == m.rank || seq == 0 {
		return Invalid
	}
	src, replica := m.layout.Rank(from), m.layout.Replica(from)
	if m.dead[src]&only(replica) != 0 {
		return Excluded
	}
	c := m.incoming(context, src)
	if seq > c.arrived+1 {
		return Invalid
	}
	// The sender has nothing eager left below seq for this process: it sends
	// in order, and skips only what was acknowledged.
	c.known[replica] = max(c.known[replica], seq)
	switch {
	case seq <= c.arrived && rendezvous:
		return m.offeredAgain(c, from, seq)
	case seq <= c.arrived:
		return Duplicate
	}
	c.arrived = seq
	if rendezvous {
		// Only its completion is acknowledged.
		c.offers.push(seq, from)
	} else if m.present(src)&^only(replica) != 0 {
		m.owe(c)
	}
	return Accept
}

// incoming finds or makes a channel.
func (m *Machine) incoming(context uint64, src proto.Rank) *incoming {
	k := key{context, src}
	c := m.arrival.byKey[k]
	if c == nil {
		c = &incoming{context: context, src: src, known: make([]uint64, m.layout.Degree)}
		m.arrival.byKey[k] = c
	}
	return c
}

// offeredAgain judges the offer of a rendezvous that has been offered before.
func (m *Machine) offeredAgain(c *incoming, from proto.Proc, seq uint64) Verdict {
	offer := c.offers.find(seq)
	if offer == nil {
		// Complete, but the acknowledgement hadn't reached this sender when
		// it offered. It would; told again, each offer has its answer, and
		// a sender's progress doesn't hang on that reasoning.
		m.oweSingle(c, seq, only(m.layout.Replica(from)))
		return Duplicate
	}
	if m.succession(from) <= m.succession(offer.value) {
		return Duplicate
	}
	offer.value = from
	return Reoffer
}

// succession is the place of a sender in the order in which the replicas of its
// rank come to send to this process: first the one with the same index, then
// the others from the lowest. Whoever sends knows that those before it are
// dead, even if this process hasn't heard yet and frames of them still arrive.
func (m *Machine) succession(p proto.Proc) int {
	if replica := m.layout.Replica(p); replica != m.layout.Replica(m.self) {
		return 1 + replica
	}
	return 0
}

// Completed says that the data of a rendezvous is all here, from the sender of
// the last Accept or Reoffer. It owes the other senders an acknowledgement.
func (m *Machine) Completed(context uint64, src proto.Rank, seq uint64) {
	c := m.incoming(context, src)
	offer := c.offers.find(seq)
	if offer == nil {
		return
	}
	m.oweSingle(c, seq, m.present(src)&^only(m.layout.Replica(offer.value)))
	c.offers.remove(offer)
	c.offers.trim()
}

// owe notes one eager arrival to be acknowledged.
func (m *Machine) owe(c *incoming) {
	if c.owed == 0 {
		m.arrival.dirty = append(m.arrival.dirty, c)
	}
	c.owed++
	m.arrival.owed++
}

// oweSingle notes a rendezvous to be acknowledged to a set of replicas.
func (m *Machine) oweSingle(c *incoming, seq uint64, to replicas) {
	if to != 0 {
		m.arrival.singles = append(m.arrival.singles, single{c, seq, to})
		m.arrival.owed++
	}
}

// FlushAcks acknowledges everything owed: each channel once, cumulatively, then
// each rendezvous. The order depends only on the order of arrivals.
func (m *Machine) FlushAcks(out *Actions) {
	for i, c := range m.arrival.dirty {
		for set := m.present(c.src); set != 0; set &= set - 1 {
			replica := set.lowest()
			if c.known[replica] < c.arrived {
				c.known[replica] = c.arrived
				out.acknowledge(m.layout.Proc(c.src, replica), c.context, c.arrived, false)
			}
		}
		c.owed = 0
		m.arrival.dirty[i] = nil
	}
	m.arrival.dirty = m.arrival.dirty[:0]
	for i, s := range m.arrival.singles {
		for set := m.present(s.channel.src) & s.to; set != 0; set &= set - 1 {
			out.acknowledge(m.layout.Proc(s.channel.src, set.lowest()), s.channel.context, s.seq, true)
		}
		m.arrival.singles[i] = single{}
	}
	m.arrival.singles = m.arrival.singles[:0]
	m.arrival.owed = 0
}

// AcksOwed is how many arrivals and completions haven't been acknowledged. A
// driver flushes when it has nothing better to do, or above a bound.
func (m *Machine) AcksOwed() int { return m.arrival.owed }
