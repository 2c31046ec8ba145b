package replica

import (
	"errors"
	"iter"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/varint"
)

// ErrState is what Restore returns for bytes that AppendState didn't write for
// such a machine.
var ErrState = errors.New("replica: not the state of a replica of this process's rank")

// Kept are the retained messages, in the order in which Restore asks for them.
func (m *Machine) Kept() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for _, c := range m.sending.channels.All() {
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open && !yield(e.value) {
					return
				}
			}
		}
	}
}

// AppendState appends what the replacement has to know, but for the bodies of the
// retained messages (see Kept), and ends the donation: the replacement joins by
// this state or dies. It must come after Handover, at a moment when the driver
// takes what it knows itself, such as the unexpected messages. What the machine put
// off for the sake of the state is done then.
func (m *Machine) AppendState(b []byte, out *Actions) []byte {
	if h := &m.healing; h.phase != preparing || h.missing > 0 {
		panic("replica: the state of a donor that isn't ready")
	}
	b = varint.Append(b, uint64(m.healing.replacement))
	b = varint.Append(b, uint64(len(m.peers)))
	for _, p := range m.peers {
		b = varint.Append(b, uint64(p.dead), uint64(p.left), uint64(p.joining))
	}
	for p := range proto.Proc(m.layout.Procs()) {
		b = varint.Append(b, uint64(m.incarnation(p)))
	}
	b = varint.Append(b, uint64(len(m.sending.channels.All())))
	for _, c := range m.sending.channels.All() {
		b = varint.Append(b, c.context, uint64(c.dst), c.sent)
		b = varint.Append(b, c.acked...)
		b = varint.Append(b, uint64(len(c.early)))
		var early []uint64
		for seq := range c.early {
			early = append(early, seq) //banyan:maporder sorted next
		}
		slices.Sort(early)
		for _, seq := range early {
			b = varint.Append(b, seq, uint64(c.early[seq]))
		}
		b = varint.Append(b, uint64(c.retained.open))
		for i := range c.retained.size {
			if e := c.retained.at(i); e.open {
				b = varint.Append(b, e.seq, uint64(uint32(e.value.Tag)), e.value.Total, uint64(e.value.pending))
			}
		}
	}
	b = varint.Append(b, uint64(len(m.arrival.channels.All())))
	for _, c := range m.arrival.channels.All() {
		b = varint.Append(b, c.context, uint64(c.src), c.arrived, uint64(c.offers.open))
		for i := range c.offers.size {
			if e := c.offers.at(i); e.open {
				b = varint.Append(b, e.seq)
			}
		}
	}
	late := slices.DeleteFunc(slices.Clone(m.arrival.deferred), func(s single) bool { return s.to&m.peers[s.channel.src].joining == 0 })
	b = varint.Append(b, uint64(len(late)))
	for _, s := range late {
		b = varint.Append(b, s.channel.context, uint64(s.channel.src), s.seq, uint64(s.to&m.peers[s.channel.src].joining))
	}
	b = varint.Append(b, m.skew.received)
	m.healing.phase = noPhase
	m.resume(out)
	return b
}

// Restore gives a replacement the state of its donor. It forgets all that it was but
// the deaths and departures it was told of. For each retained message, in the
// order of Kept, it calls keep with what the machine knows of it (Context, Dst,
// Tag, Total, Seq); keep returns the caller's Message, with Body and User.
//
// An offer that the donor had is restored without a sender: one will offer it
// again, with the verdict Reoffer. After an error the machine is good for nothing.
func (m *Machine) Restore(state []byte, keep func(Message) *Message, out *Actions) error {
	was := *m
	*m = *New(Config{Layout: m.layout, Self: m.self, Mirror: m.mirror, MaxSkew: m.skew.limit})
	r := varint.Read(state)
	if r.Uint() != uint64(m.self) || r.Uint() != uint64(len(m.peers)) {
		return ErrState
	}
	m.restorePeers(&r)
	for range r.Count() {
		m.restoreOutgoing(&r, keep)
	}
	for range r.Count() {
		m.restoreIncoming(&r)
	}
	for range r.Count() {
		m.restoreDeferred(&r)
	}
	m.skew.received = r.Uint()
	if !r.Done() {
		return ErrState
	}
	m.measure()
	m.healing.phase = restored
	for _, n := range was.healing.early {
		m.prepare(n.from, n.Note, out)
	}
	for p := range proto.Proc(m.layout.Procs()) {
		switch rank, bit := m.layout.Rank(p), m.bit(p); {
		case was.peers[rank].dead&bit != 0:
			m.Dead(p, was.incarnation(p), out)
		case was.peers[rank].left&bit != 0:
			m.Left(p, out)
		}
	}
	return nil
}

func (m *Machine) restorePeers(r *varint.Reader) {
	all := allOf(m.layout)
	for rank := range m.peers {
		dead, left, joining := replicas(r.Uint()), replicas(r.Uint()), replicas(r.Uint())
		if absent := absentOf(m.layout, proto.Rank(rank)); (dead|left|joining)&^all != 0 || absent&^dead != 0 || joining&(dead|left) != 0 {
			r.Fail()
		}
		if proto.Rank(rank) == m.rank {
			dead, left, joining = dead&^m.bit(m.self), left&^m.bit(m.self), joining&^m.bit(m.self)
		}
		m.peers[rank] = peers{present: all &^ dead &^ left &^ joining, dead: dead, left: left, joining: joining, barred: joining}
		for ; joining != 0; joining &= joining - 1 {
			m.healing.joining++
		}
	}
	for p := range proto.Proc(m.layout.Procs()) {
		m.setIncarnation(p, proto.Incarnation(r.Uint()))
	}
	m.covers = m.bit(m.self)
	if m.mirror {
		m.covers = all
	}
}

func (m *Machine) restoreOutgoing(r *varint.Reader, keep func(Message) *Message) {
	context, dst, sent := r.Uint(), m.rankOf(r), r.Uint()
	if r.Failed() || m.sending.channels.Find(context, dst) != nil {
		r.Fail()
		return
	}
	c := m.outgoing(context, dst)
	c.sent = sent
	for i := range c.acked {
		c.acked[i] = r.Uint()
	}
	for range r.Count() {
		if c.early == nil {
			c.early = make(map[uint64]replicas)
		}
		seq := r.Uint()
		c.early[seq] = replicas(r.Uint())
	}
	last := uint64(0)
	for range r.Count() {
		seq, tag, total, pending := r.Uint(), r.Uint(), r.Uint(), replicas(r.Uint())
		if r.Failed() || seq <= last || seq > sent || pending == 0 || pending&^allOf(m.layout) != 0 {
			r.Fail()
			return
		}
		last = seq
		msg := keep(Message{Context: context, Dst: dst, Tag: int32(uint32(tag)), Total: total, Seq: seq})
		msg.Context, msg.Dst, msg.Total, msg.Seq, msg.Rendezvous = context, dst, total, seq, false
		msg.channel, msg.pending = c, pending
		c.retained.push(seq, msg)
		m.sending.messages++
		m.sending.bytes += msg.copied()
	}
}

func (m *Machine) restoreIncoming(r *varint.Reader) {
	context, src, arrived := r.Uint(), m.rankOf(r), r.Uint()
	if r.Failed() || m.arrival.channels.Find(context, src) != nil {
		r.Fail()
		return
	}
	c := m.incoming(context, src)
	c.arrived = arrived
	last := uint64(0)
	for range r.Count() {
		seq := r.Uint()
		if r.Failed() || seq <= last || seq > arrived {
			r.Fail()
			return
		}
		last = seq
		c.offers.push(seq, offer{from: proto.NoProc})
		m.arrival.offered++
	}
}

// restoreDeferred reads an acknowledgement that slots get when they have joined.
func (m *Machine) restoreDeferred(r *varint.Reader) {
	context, src, seq, to := r.Uint(), m.rankOf(r), r.Uint(), replicas(r.Uint())
	c := m.arrival.channels.Find(context, src)
	if r.Failed() || c == nil || seq > c.arrived || to == 0 || to&^m.peers[src].joining != 0 {
		r.Fail()
		return
	}
	m.arrival.deferred = append(m.arrival.deferred, single{c, seq, to})
}

// rankOf reads a rank at the other end of a channel.
func (m *Machine) rankOf(r *varint.Reader) proto.Rank {
	rank := r.Uint()
	if rank >= uint64(len(m.peers)) || proto.Rank(rank) == m.rank {
		r.Fail()
		return 0
	}
	return proto.Rank(rank)
}
