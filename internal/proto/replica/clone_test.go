package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"banyan/internal/channel"
)

// clone copies a node before it changes.
func (n *node) clone() *node {
	c := *n
	c.m = n.m.clone()
	c.inbox = slices.Clone(n.inbox)
	c.got = slices.Clone(n.got)
	c.open = slices.Clone(n.open)
	c.told = slices.Clone(n.told)
	c.known = nil
	return &c
}

func (m *Machine) clone() *Machine {
	c := *m
	c.peers, c.incarnations = slices.Clone(m.peers), slices.Clone(m.incarnations)
	h := &c.healing
	h.awaited, h.early = slices.Clone(h.awaited), slices.Clone(h.early)
	c.sending.channels = channel.New[outgoing](m.layout.Ranks())
	for _, from := range m.sending.channels.All() {
		to := *from
		to.acked, to.early = slices.Clone(from.acked), maps.Clone(from.early)
		to.retained.ring = slices.Clone(from.retained.ring)
		for j := range to.retained.size {
			if e := to.retained.at(j); e.open {
				msg := *e.value
				msg.channel = &to
				e.value = &msg
			}
		}
		c.sending.channels.Add(to.context, to.dst, &to)
	}
	c.arrival.channels = channel.New[incoming](m.layout.Ranks())
	for _, from := range m.arrival.channels.All() {
		to := *from
		to.known = slices.Clone(from.known)
		to.offers.ring = slices.Clone(from.offers.ring)
		c.arrival.channels.Add(to.context, to.src, &to)
	}
	c.arrival.dirty, c.arrival.singles, c.arrival.deferred = nil, nil, nil
	for _, d := range m.arrival.dirty {
		c.arrival.dirty = append(c.arrival.dirty, c.arrival.channels.Find(d.context, d.src))
	}
	for _, s := range m.arrival.singles {
		s.channel = c.arrival.channels.Find(s.channel.context, s.channel.src)
		c.arrival.singles = append(c.arrival.singles, s)
	}
	for _, s := range m.arrival.deferred {
		s.channel = c.arrival.channels.Find(s.channel.context, s.channel.src)
		c.arrival.deferred = append(c.arrival.deferred, s)
	}
	return &c
}

// digest identifies a state of a process, or a frame.
type digest [16]byte

// encoder writes a state as bytes, the same bytes for states that behave the same.
type encoder struct {
	bytes []byte
	// exact makes it also write what makes no difference any more.
	exact bool
}

func (e *encoder) int(values ...int) {
	for _, v := range values {
		e.bytes = binary.AppendVarint(e.bytes, int64(v))
	}
}

func (e *encoder) uint(values ...uint64) {
	for _, v := range values {
		e.bytes = binary.AppendUvarint(e.bytes, v)
	}
}

func (e *encoder) bool(v bool) {
	if v {
		e.bytes = append(e.bytes, 1)
	} else {
		e.bytes = append(e.bytes, 0)
	}
}

// restart forgets what was written.
func (e *encoder) restart() { e.bytes = e.bytes[:0] }

func (e *encoder) digest() (d digest) {
	sum := sha256.Sum256(e.bytes)
	copy(d[:], sum[:])
	return d
}

func (f *frame) encode(e *encoder) {
	e.int(int(f.kind), f.id)
	e.uint(f.context, f.seq, uint64(f.incarnation))
	e.bool(f.single)
	e.int(int(f.note.Kind), int(f.note.Replacement), int(f.note.Incarnation))
	e.uint(f.note.Covers)
	if f.state != nil {
		f.state.encode(e)
	}
}

func (n *node) encode(e *encoder) {
	e.int(int(n.status), int(n.incarnation))
	if !n.active() {
		return
	}
	for _, told := range n.told {
		e.uint(uint64(told))
	}
	e.bool(n.paused)
	e.int(int(n.m.self))
	if n.status == joiner || e.exact {
		e.int(int(n.donor))
	}
	n.state.encode(e)
	n.m.encode(e)
}

func (s *state) encode(e *encoder) {
	e.int(s.pc, len(s.inbox))
	for _, i := range s.inbox {
		e.uint(i.context, i.seq)
		e.int(int(i.src), i.id)
		e.bool(i.complete)
		e.bool(i.pulled)
		if !i.complete || e.exact {
			e.int(int(i.from))
			e.uint(i.spare)
		}
	}
	e.int(len(s.open)) // the open messages are those that the machine retains
	e.bool(s.throttled)
	for _, got := range s.got {
		e.int(got)
	}
	e.bytes = append(e.bytes, s.machine...)
}

func (m *Machine) encode(e *encoder) {
	for r, p := range m.peers {
		e.uint(uint64(p.dead), uint64(p.left), uint64(p.joining), uint64(p.barred))
		if m.healing.missing > 0 {
			e.uint(uint64(m.healing.awaited[r]))
		}
	}
	for p := range m.incarnations {
		e.uint(uint64(m.incarnations[p]))
	}
	e.int(int(m.healing.phase), m.healing.missing)
	if m.healing.phase != noPhase {
		e.int(int(m.healing.replacement), int(m.healing.incarnation))
	}
	e.int(len(m.healing.early))
	for _, n := range m.healing.early {
		e.int(int(n.from), int(n.Kind), int(n.Replacement), int(n.Incarnation))
		e.uint(n.Covers)
	}
	e.uint(uint64(m.covers))
	for k := range m.layout.MaxDegree() {
		e.uint(uint64(m.kept[k]))
	}
	if m.skew.limit > 0 {
		e.uint(m.skew.received, m.skew.due)
		e.uint(m.skew.reported[:m.layout.MaxDegree()]...)
		e.bool(m.skew.through)
	}
	e.int(len(m.sending.channels.All()))
	for _, c := range m.sending.channels.All() {
		e.uint(c.context, c.sent)
		for replica, acked := range c.acked {
			if takesPart := m.peers[c.dst].present | m.peers[c.dst].joining; !e.exact && (takesPart&only(replica) == 0 || acked <= c.sent) {
				acked = 0
			}
			e.uint(acked)
		}
		e.int(int(c.dst), c.retained.open, len(c.early))
		for _, seq := range slices.Sorted(maps.Keys(c.early)) {
			e.uint(seq, uint64(c.early[seq]))
		}
		for i := range c.retained.size {
			if r := c.retained.at(i); r.open {
				e.uint(r.seq, uint64(r.value.pending))
				e.bool(r.value.Rendezvous)
			}
		}
	}
	e.int(len(m.arrival.channels.All()))
	byKey := func(a, b *incoming) int { return int(a.context)<<8 + int(a.src) - int(b.context)<<8 - int(b.src) }
	for _, c := range slices.SortedFunc(slices.Values(m.arrival.channels.All()), byKey) {
		e.uint(c.context, c.arrived)
		for replica, known := range c.known {
			takesPart := m.peers[c.src].present | m.peers[c.src].joining
			e.bool(takesPart&only(replica) != 0 && known == c.arrived)
			if e.exact {
				e.uint(known)
			}
		}
		e.bool(c.owed > 0)
		if e.exact {
			e.int(c.owed)
		}
		e.int(int(c.src), c.offers.open)
		for i := range c.offers.size {
			if o := c.offers.at(i); o.open {
				e.uint(o.seq, uint64(o.value.spare))
				e.int(int(o.value.from))
			}
		}
	}
	e.int(len(m.arrival.dirty), len(m.arrival.singles), len(m.arrival.deferred))
	for _, d := range m.arrival.dirty {
		e.uint(d.context)
		e.int(int(d.src))
	}
	for _, s := range m.arrival.singles {
		e.uint(s.channel.context, s.seq, uint64(s.to))
		e.int(int(s.channel.src))
	}
	for _, s := range m.arrival.deferred {
		e.uint(s.channel.context, s.seq, uint64(s.to))
		e.int(int(s.channel.src))
	}
}
