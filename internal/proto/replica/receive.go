package replica

import (
	"cmp"
	"slices"

	"banyan/internal/channel"
	"banyan/internal/proto"
)

// receiveSide is what a process keeps as a receiver.
type receiveSide struct {
	channels channel.Table[incoming]
	dirty    []*incoming // channels with owed > 0, in the order they came to it
	offered  int         // rendezvous that aren't complete
	singles  []single    // owed for rendezvous, in the order of completion
	owed     int         // arrivals and completions not yet acknowledged
	// deferred are singles owed to a slot that is joining.
	deferred []single
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
	// offers are the rendezvous that aren't complete.
	offers window[offer]
}

// offer is a rendezvous that isn't complete.
type offer struct {
	from  proto.Proc // the sender to pull it from; NoProc if that is no more
	spare replicas   // others that have offered it
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
	// Spare: a rendezvous that is known but incomplete is offered by another
	// sender. Remember it: should the one that it is pulled from die, the action
	// Redirect asks for it.
	Spare
	// Reoffer: a rendezvous that is known but incomplete, and whose sender is
	// dead, is offered by another. Abandon any data of the earlier sender, also
	// what may still come. Pull from this one, now if the earlier offer had
	// been pulled, otherwise when it is matched.
	Reoffer
	// Excluded: the sender is known dead. Drop it and answer with an eviction notice.
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
	case Spare:
		return "spare"
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
	if uint(from) >= uint(len(m.slots)) || seq == 0 {
		return Invalid
	}
	src, replica := m.slots[from].Rank, int(m.slots[from].Replica)
	if src == m.rank {
		return Invalid
	}
	peers := &m.peers[src]
	if peers.present&only(replica) == 0 { // but it may have left
		if peers.dead&only(replica) != 0 {
			return Excluded
		}
		if peers.joining&only(replica) != 0 {
			return Invalid // it says that it has joined first
		}
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
		c.offers.push(seq, offer{from: from})
		m.arrival.offered++
	} else if !m.mirror && peers.present&^only(replica) != 0 {
		m.owe(c)
	}
	return Accept
}

// Next is Arrive for the most common message: eager, and the next one of a channel, from a process
// that takes part. Arrive would Accept that, and ok is true. Else nothing has happened, and Arrive
// has to be called.
func (m *Machine) Next(from proto.Proc, src proto.Rank, context uint64, seq uint64) (ok bool) {
	if uint(from) >= uint(len(m.slots)) {
		return false
	}
	s := m.slots[from]
	if s.Rank != src || src == m.rank {
		return false
	}
	c, peers, sender := m.arrival.channels.Find(context, src), &m.peers[src], only(int(s.Replica))
	if c == nil || seq != c.arrived+1 || peers.present&sender == 0 {
		return false
	}
	c.arrived, c.known[s.Replica] = seq, seq // which no sender knew before
	if !m.mirror && peers.present&^sender != 0 {
		m.owe(c)
	}
	return true
}

// incoming finds or makes a channel.
func (m *Machine) incoming(context uint64, src proto.Rank) *incoming {
	if c := m.arrival.channels.Find(context, src); c != nil {
		return c
	}
	return m.openIncoming(context, src)
}

// openIncoming makes a channel. It is a function of its own to keep the look-up short.
func (m *Machine) openIncoming(context uint64, src proto.Rank) *incoming {
	return m.arrival.channels.Add(context, src, &incoming{context: context, src: src, known: make([]uint64, m.layout.MaxDegree())})
}

// offeredAgain judges the offer of a rendezvous that has been offered before.
func (m *Machine) offeredAgain(c *incoming, from proto.Proc, seq uint64) Verdict {
	o := c.offers.find(seq)
	switch {
	case o == nil:
		// Complete, but the acknowledgement hadn't reached this sender when
		// it offered. It will reach it. It is sent once more, so that each offer has its answer
		// and a sender's progress doesn't depend on that reasoning.
		m.oweSingle(c, seq, m.bit(from))
		return Duplicate
	case o.value.from == from:
		return Duplicate
	case o.value.from == proto.NoProc:
		o.value.from = from
		return Reoffer
	}
	o.value.spare |= m.bit(from)
	return Spare
}

// redirect turns every rendezvous that is pulled from p, which is dead, to
// another sender that has offered it: the one with the own index, or else the
// lowest. If none has, another will, because it is pending there.
func (m *Machine) redirect(p proto.Proc, out *Actions) {
	src, bit := m.layout.Rank(p), m.bit(p)
	for _, c := range m.arrival.channels.All() {
		if c.src != src {
			continue
		}
		for i := range c.offers.size {
			e := c.offers.at(i)
			if !e.open {
				continue
			}
			o := &e.value
			o.spare &^= bit
			if o.from != p {
				continue
			}
			candidates := o.spare & m.present(src)
			next := candidates & m.bit(m.self)
			if next == 0 {
				next = candidates
			}
			if o.from = proto.NoProc; next != 0 {
				replica := next.lowest()
				o.from = m.layout.Proc(src, replica)
				o.spare &^= only(replica)
				out.redirect(o.from, c.context, e.seq)
			}
		}
	}
}

// Completed says that the data of a rendezvous is all here, from the sender of
// the last Accept, Reoffer or Redirect. It owes the other senders an
// acknowledgement.
func (m *Machine) Completed(context uint64, src proto.Rank, seq uint64) {
	c := m.incoming(context, src)
	o := c.offers.find(seq)
	if o == nil {
		return
	}
	others := m.present(src)
	if from := o.value.from; from != proto.NoProc {
		others &^= m.bit(from)
	}
	m.oweSingle(c, seq, others)
	if joining := m.peers[src].joining; joining != 0 {
		m.arrival.deferred = append(m.arrival.deferred, single{c, seq, joining})
	}
	c.offers.remove(o)
	c.offers.trim()
	m.arrival.offered--
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
// each rendezvous. The records for one process follow each other, so that they can share
// a frame; their order depends only on the order of arrivals.
func (m *Machine) FlushAcks(out *Actions) {
	before := len(*out)
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
	slices.SortStableFunc((*out)[before:], func(a, b Action) int { return cmp.Compare(a.To, b.To) })
}

// AcksOwed is how many arrivals and completions haven't been acknowledged. A
// driver flushes when it has nothing better to do, or above a bound.
func (m *Machine) AcksOwed() int { return m.arrival.owed }
