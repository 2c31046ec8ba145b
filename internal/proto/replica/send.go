package replica

import (
	"slices"

	"banyan/internal/channel"
	"banyan/internal/proto"
)

// sendSide is what a process keeps as a sender.
type sendSide struct {
	channels channel.Table[outgoing]
	messages int    // retained
	bytes    uint64 // of those, in copies
}

// outgoing is the channel from this process's rank to another one in one
// context.
type outgoing struct {
	context uint64
	dst     proto.Rank
	sent    uint64 // number of the last message sent
	// acked is, by replica of dst, up to where it says that everything has
	// arrived; above sent if the replica got it from a faster sender.
	acked []uint64
	// early are, by number above sent, the replicas that have completed a
	// rendezvous this process hasn't come to yet. Never iterated.
	early map[uint64]replicas
	// retained are the messages that are pending somewhere.
	retained window[*Message]
}

// outgoing finds or makes a channel.
func (m *Machine) outgoing(context uint64, dst proto.Rank) *outgoing {
	if c := m.sending.channels.Find(context, dst); c != nil {
		return c
	}
	return m.openOutgoing(context, dst)
}

// openOutgoing makes a channel. It is a function of its own to keep the look-up short.
func (m *Machine) openOutgoing(context uint64, dst proto.Rank) *outgoing {
	return m.sending.channels.Add(context, dst, &outgoing{context: context, dst: dst, acked: make([]uint64, m.layout.MaxDegree())})
}

// Send numbers a message to another rank and transmits it to each replica that
// this process covers, unless that has acknowledged it early. The release
// follows at once if no other replica may need the message, else later.
func (m *Machine) Send(msg *Message, out *Actions) {
	if msg.Dst == m.rank || m.healing.phase == preparing {
		panic("replica: a message to the own rank, or from a program that is to be paused")
	}
	c := m.outgoing(msg.Context, msg.Dst)
	c.sent++
	msg.Seq = c.sent
	msg.channel = c
	peers := &m.peers[c.dst]
	msg.pending = (peers.present | peers.joining) &^ c.served(msg)
	m.transmit(msg, m.covers, out)
	if msg.pending == 0 {
		msg.channel = nil
		out.release(msg)
		return
	}
	m.retain(c, msg)
}

func (m *Machine) retain(c *outgoing, msg *Message) {
	c.retained.push(msg.Seq, msg)
	m.sending.messages++
	m.sending.bytes += msg.copied()
}

// Sent is an eager message that SendOne has numbered.
type Sent struct {
	Seq uint64
	To  proto.Proc // the receiver: to be transmitted at once

	channel *outgoing
	pending replicas
}

// Pending says whether others may need the message: then it has to be Retained.
func (s *Sent) Pending() bool { return s.pending != 0 }

// SendOne is Send for the most common message: eager, and transmitted to one process. It needs no
// Message unless it has to be retained. If ok is false nothing has happened, and Send has to be
// called.
func (m *Machine) SendOne(context uint64, dst proto.Rank) (s Sent, ok bool) {
	if dst == m.rank || m.healing.phase == preparing {
		return s, false // Send says why
	}
	c := m.sending.channels.Find(context, dst)
	if c == nil {
		c = m.openOutgoing(context, dst)
	}
	s.Seq, s.channel = c.sent+1, c
	peers := &m.peers[dst]
	s.pending = peers.present | peers.joining
	for replica, acked := range c.acked {
		if acked >= s.Seq {
			s.pending &^= only(replica)
		}
	}
	to := m.covers & s.pending &^ peers.barred
	if to == 0 || to&(to-1) != 0 {
		return s, false
	}
	c.sent++
	s.pending &^= to
	s.To = m.layout.Proc(dst, to.lowest())
	return s, true
}

// Retain keeps a message that was sent by SendOne and is Pending. It has to be the next call. The
// message will be Released.
func (m *Machine) Retain(s *Sent, msg *Message) {
	msg.Seq, msg.channel, msg.pending = s.Seq, s.channel, s.pending
	m.retain(s.channel, msg)
}

// served are the replicas that acknowledged a message before it was sent here.
func (c *outgoing) served(msg *Message) replicas {
	if msg.Rendezvous {
		set := c.early[msg.Seq]
		delete(c.early, msg.Seq)
		return set
	}
	var set replicas
	for replica, acked := range c.acked {
		if acked >= msg.Seq {
			set |= only(replica)
		}
	}
	return set
}

// transmit sends a message to those of a set of replicas that may need it. An
// eager message then counts as delivered: channels are reliable, and if this
// process dies, others have retained it.
func (m *Machine) transmit(msg *Message, to replicas, out *Actions) {
	to &= msg.pending &^ m.peers[msg.Dst].barred
	if !msg.Rendezvous {
		msg.pending &^= to
	}
	for ; to != 0; to &= to - 1 {
		out.transmit(msg, m.layout.Proc(msg.Dst, to.lowest()))
	}
}

// Delivered says that all data of a rendezvous has been handed to the transport
// for the process to. It is ignored for a message that has been released in the
// meantime and not sent again.
func (m *Machine) Delivered(msg *Message, to proto.Proc, out *Actions) {
	if c := msg.channel; c != nil && m.layout.Holds(to) && m.layout.Rank(to) == msg.Dst {
		m.settle(c.retained.find(msg.Seq), m.bit(to), out)
		c.retained.trim()
	}
}

// settle notes that a set of replicas needs nothing more of a retained message,
// and releases it when that was the last. The caller trims the window.
func (m *Machine) settle(e *entry[*Message], have replicas, out *Actions) {
	msg := e.value
	msg.pending &^= have
	if msg.pending != 0 {
		return
	}
	msg.channel.retained.remove(e)
	msg.channel = nil
	m.sending.messages--
	m.sending.bytes -= msg.copied()
	out.release(msg)
}

// Acked takes in one record of acknowledgement from a replica of the channel's
// destination. It may be early: about messages that this process, lagging
// behind its siblings, has yet to send.
func (m *Machine) Acked(from proto.Proc, context uint64, seq uint64, single bool, out *Actions) {
	if !m.layout.Holds(from) || !m.takesPart(from) || m.layout.Rank(from) == m.rank {
		return
	}
	c := m.outgoing(context, m.layout.Rank(from))
	replica := m.layout.Replica(from)
	if single {
		m.completed(c, seq, replica, out)
	} else {
		m.arrived(c, seq, replica, out)
	}
	c.retained.trim()
}

// completed takes in that a replica has one rendezvous.
func (m *Machine) completed(c *outgoing, seq uint64, replica int, out *Actions) {
	if seq > c.sent {
		if c.early == nil {
			c.early = make(map[uint64]replicas)
		}
		c.early[seq] |= only(replica)
	} else if e := c.retained.find(seq); e != nil {
		m.settle(e, only(replica), out)
	}
}

// arrived takes in that a replica has all eager messages up to seq.
func (m *Machine) arrived(c *outgoing, seq uint64, replica int, out *Actions) {
	before := c.acked[replica]
	if seq <= before {
		return
	}
	c.acked[replica] = seq
	w := &c.retained
	for i := w.from(before + 1); i < w.size && w.at(i).seq <= seq; i++ {
		if e := w.at(i); e.open && !e.value.Rendezvous {
			m.settle(e, only(replica), out)
		}
	}
}

// forget drops replicas of a destination that need nothing any more.
func (m *Machine) forget(dst proto.Rank, gone replicas, out *Actions) {
	for _, c := range m.sending.channels.All() {
		if c.dst != dst {
			continue
		}
		w := &c.retained
		for i := range w.size {
			if e := w.at(i); e.open {
				m.settle(e, gone, out)
			}
		}
		w.trim()
	}
}

// resend transmits, for replica indexes that this process has come to cover,
// what they may lack: eager messages they haven't acknowledged, and every
// rendezvous they haven't individually.
func (m *Machine) resend(fresh replicas, out *Actions) {
	for _, c := range m.sending.channels.All() {
		m.resendChannel(c, fresh, out)
	}
}

func (m *Machine) resendChannel(c *outgoing, to replicas, out *Actions) {
	w := &c.retained
	for i := range w.size {
		if e := w.at(i); e.open {
			m.transmit(e.value, to, out)
			m.settle(e, 0, out)
		}
	}
	w.trim()
}

// Behind says whether another replica of this rank has sent a message that this
// one hasn't, and to which rank: the receiver has acknowledged it here. While the program
// runs that is a lag. When it is through it proves that the replicas sent
// different messages.
func (m *Machine) Behind() (dst proto.Rank, behind bool) {
	for _, c := range m.sending.channels.All() {
		if len(c.early) > 0 || slices.Max(c.acked) > c.sent {
			return c.dst, true
		}
	}
	return 0, false
}

// Retained is how many messages this process keeps for replicas that may need
// them from it, and how many bytes that takes. A rendezvous takes none: its data
// stays in the program's buffer until the Release.
func (m *Machine) Retained() (messages int, bytes uint64) {
	return m.sending.messages, m.sending.bytes
}
