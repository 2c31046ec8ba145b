package replica

import (
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"banyan/internal/proto"
)

// ErrState is what Restore returns for bytes that AppendState didn't write for
// such a machine.
var ErrState = errors.New("replica: not the state of a replica of this process's rank")

// Kept are the retained messages, in the order in which Restore asks for them.
func (m *Machine) Kept() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for _, c := range m.sending.channels {
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open && !yield(e.value) {
					return
				}
			}
		}
	}
}

// AppendState appends what the newcomer has to know, but for the bodies of the
// retained messages (see Kept), and ends the donation: the newcomer joins by
// this state or dies. It must come after Handover, at a moment when the driver
// takes what it knows itself, such as the unexpected messages. What the machine put
// off for the sake of the state is done then.
func (m *Machine) AppendState(b []byte, out *Actions) []byte {
	if h := &m.healing; h.phase != preparing || h.missing > 0 {
		panic("replica: the state of a donor that isn't ready")
	}
	b = binary.AppendUvarint(b, uint64(m.healing.newcomer))
	b = binary.AppendUvarint(b, uint64(len(m.peers)))
	for _, p := range m.peers {
		b = appendUvarints(b, uint64(p.dead), uint64(p.left), uint64(p.joining))
	}
	for p := range proto.Proc(m.layout.Procs()) {
		b = binary.AppendUvarint(b, uint64(m.incarnation(p)))
	}
	b = binary.AppendUvarint(b, uint64(len(m.sending.channels)))
	for _, c := range m.sending.channels {
		b = appendUvarints(b, c.context, uint64(c.dst), c.sent)
		b = appendUvarints(b, c.acked...)
		b = binary.AppendUvarint(b, uint64(len(c.early)))
		var early []uint64
		for seq := range c.early {
			early = append(early, seq) //banyan:maporder sorted next
		}
		slices.Sort(early)
		for _, seq := range early {
			b = appendUvarints(b, seq, uint64(c.early[seq]))
		}
		b = binary.AppendUvarint(b, uint64(c.retained.open))
		for i := range c.retained.size {
			if e := c.retained.at(i); e.open {
				b = appendUvarints(b, e.seq, uint64(uint32(e.value.Tag)), e.value.Total, uint64(e.value.pending))
			}
		}
	}
	b = binary.AppendUvarint(b, uint64(len(m.arrival.channels)))
	for _, c := range m.arrival.channels {
		b = appendUvarints(b, c.context, uint64(c.src), c.arrived, uint64(c.offers.open))
		for i := range c.offers.size {
			if e := c.offers.at(i); e.open {
				b = binary.AppendUvarint(b, e.seq)
			}
		}
	}
	m.healing.phase = noPhase
	m.substitute(out)
	return b
}

func appendUvarints(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// Restore gives a newcomer the state of its donor. It forgets all that it was but
// the deaths and departures it was told of. For each retained message, in the
// order of Kept, it calls keep with what the machine knows of it (Context, Dst,
// Tag, Total, Seq); keep returns the caller's Message, with Body and User.
//
// An offer that the donor had is restored without a sender: one will offer it
// again, with the verdict Reoffer. After an error the machine is good for nothing.
func (m *Machine) Restore(state []byte, keep func(Message) *Message, out *Actions) error {
	was := *m
	*m = *New(Config{Layout: m.layout, Self: m.self, Mirror: m.mirror})
	r := stateReader{b: state}
	if r.uint() != uint64(m.self) || r.uint() != uint64(len(m.peers)) {
		return ErrState
	}
	m.restorePeers(&r)
	for range r.count() {
		m.restoreOutgoing(&r, keep)
	}
	for range r.count() {
		m.restoreIncoming(&r)
	}
	if r.bad || len(r.b) > 0 {
		return ErrState
	}
	m.healing.phase = restored
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

func (m *Machine) restorePeers(r *stateReader) {
	all := m.layout.all()
	for rank := range m.peers {
		dead, left, joining := replicas(r.uint()), replicas(r.uint()), replicas(r.uint())
		if absent := m.layout.absent(proto.Rank(rank)); (dead|left|joining)&^all != 0 || absent&^dead != 0 || joining&(dead|left) != 0 {
			r.bad = true
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
		m.setIncarnation(p, uint32(r.uint()))
	}
	m.covers = m.bit(m.self)
	if m.mirror {
		m.covers = all
	}
}

func (m *Machine) restoreOutgoing(r *stateReader, keep func(Message) *Message) {
	context, dst, sent := r.uint(), m.rankOf(r), r.uint()
	if r.bad || m.sending.byKey[key{context, dst}] != nil {
		r.bad = true
		return
	}
	c := m.outgoing(context, dst)
	c.sent = sent
	for i := range c.acked {
		c.acked[i] = r.uint()
	}
	for range r.count() {
		if c.early == nil {
			c.early = make(map[uint64]replicas)
		}
		seq := r.uint()
		c.early[seq] = replicas(r.uint())
	}
	last := uint64(0)
	for range r.count() {
		seq, tag, total, pending := r.uint(), r.uint(), r.uint(), replicas(r.uint())
		if r.bad || seq <= last || seq > sent || pending == 0 || pending&^m.layout.all() != 0 {
			r.bad = true
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

func (m *Machine) restoreIncoming(r *stateReader) {
	context, src, arrived := r.uint(), m.rankOf(r), r.uint()
	if r.bad || m.arrival.byKey[key{context, src}] != nil {
		r.bad = true
		return
	}
	c := m.incoming(context, src)
	c.arrived = arrived
	last := uint64(0)
	for range r.count() {
		seq := r.uint()
		if r.bad || seq <= last || seq > arrived {
			r.bad = true
			return
		}
		last = seq
		c.offers.push(seq, offer{from: proto.NoProc})
	}
}

// rankOf reads a rank at the other end of a channel.
func (m *Machine) rankOf(r *stateReader) proto.Rank {
	rank := r.uint()
	if rank >= uint64(len(m.peers)) || proto.Rank(rank) == m.rank {
		r.bad = true
		return 0
	}
	return proto.Rank(rank)
}

// stateReader reads what AppendState wrote. After something impossible, bad is set
// and everything reads as 0.
type stateReader struct {
	b   []byte
	bad bool
}

func (r *stateReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads the number of things that follow, of at least a byte each.
func (r *stateReader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}
