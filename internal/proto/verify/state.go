package verify

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/varint"
)

// ErrState is what Restore returns for bytes that AppendState didn't write at another replica of
// the same rank.
var ErrState = errors.New("verify: not the state of another replica of this process's rank")

// AppendState appends what a replacement that takes over this process's state has to know: the
// digests of what both have sent and received, and what was said of messages to come. It must be
// called when no rendezvous of this process is under way (package replica makes sure of that), so
// that the receivers have told of those that were sent.
func (m *Machine) AppendState(b []byte) []byte {
	b = varint.Append(b, uint64(m.cfg.Rank), uint64(m.cfg.Replica), uint64(m.senders))
	for r := range proto.Rank(m.cfg.Ranks) {
		b = varint.Append(b, uint64(m.gone[r]))
	}
	b = varint.Append(b, uint64(len(m.sending.All())))
	for _, c := range m.sending.All() {
		b = c.appendTo(b)
	}
	b = varint.Append(b, uint64(len(m.arrival.All())))
	for _, f := range m.arrival.All() {
		b = varint.Append(b, f.context, uint64(f.src), f.seq, uint64(f.digest))
	}
	return b
}

func (c *outgoing) appendTo(b []byte) []byte {
	b = varint.Append(b, c.context, uint64(c.dst), c.sent, uint64(c.differ), uint64(len(c.marks)))
	for _, k := range c.marks {
		b = varint.Append(b, k.seq, uint64(k.digest), uint64(uint32(k.tag)))
	}
	for _, st := range c.streams {
		b = varint.Append(b, st.told, st.agreed, st.first, st.last, uint64(len(st.ahead)))
		for _, w := range st.ahead {
			b = varint.Append(b, w.seq, uint64(w.digest))
		}
	}
	unsent := 0
	for _, s := range c.singles {
		if !s.sent {
			unsent++
		}
	}
	b = varint.Append(b, uint64(unsent))
	for _, s := range c.singles {
		if !s.sent {
			b = varint.Append(b, s.seq, uint64(s.told), uint64(s.silent))
			for _, sum := range s.sums {
				b = varint.Append(b, uint64(sum))
			}
		}
	}
	return b
}

// Restore gives a replacement the state of its donor. The machine forgets all that it knew, so the
// driver has to tell it of the dead again. What the donor was told of the replacement's own stream
// the replacement keeps, for replacements that it donates to, but only of rendezvous: the receivers
// tell all else anew. A verdict of the donor about itself isn't taken over: the replacement comes
// to its own. After an error the machine is good for nothing.
func (m *Machine) Restore(state []byte) error {
	*m = *New(m.cfg)
	r := varint.Read(state)
	own := m.cfg.Degree(m.cfg.Rank)
	if rank, donor := r.Uint(), r.Uint(); rank != uint64(m.cfg.Rank) || donor >= uint64(own) || donor == uint64(m.cfg.Replica) {
		return ErrState
	}
	m.senders = subset(&r, own) | only(m.cfg.Replica)
	for rank := range proto.Rank(m.cfg.Ranks) {
		m.gone[rank] = subset(&r, m.cfg.Degree(rank))
	}
	for range r.Count() {
		m.restoreChannel(&r)
	}
	for range r.Count() {
		context, src := r.Uint(), m.rankOf(&r)
		if r.Failed() || m.arrival.Find(context, src) != nil {
			return ErrState
		}
		f := m.incoming(context, src)
		f.seq, f.digest = r.Uint(), digestOf(&r)
	}
	if !r.Done() {
		return ErrState
	}
	return nil
}

func (m *Machine) restoreChannel(r *varint.Reader) {
	context, dst := r.Uint(), m.rankOf(r)
	if r.Failed() || m.sending.Find(context, dst) != nil {
		r.Fail()
		return
	}
	c, self := m.outgoing(context, dst), only(m.cfg.Replica)
	c.sent = r.Uint()
	c.differ = subset(r, len(c.streams)) &^ self
	c.marks = c.marks[:0]
	for range r.Count() {
		c.marks = append(c.marks, mark{r.Uint(), digestOf(r), int32(digestOf(r))})
	}
	ascending := func(a, b mark) int { return cmp.Compare(a.seq, b.seq) }
	if n := len(c.marks); n == 0 || c.marks[n-1].seq > c.sent || !slices.IsSortedFunc(c.marks, ascending) {
		r.Fail()
		return
	}
	for j := range c.streams {
		st := stream{told: r.Uint(), agreed: r.Uint(), first: r.Uint(), last: r.Uint()}
		for range r.Count() {
			w := word{r.Uint(), digestOf(r)}
			if n := len(st.ahead); w.seq <= c.sent || n == 2 || n == 1 && w.seq <= st.ahead[0].seq {
				r.Fail()
				return
			}
			st.ahead = append(st.ahead, w)
		}
		if j != m.cfg.Replica {
			c.streams[j] = st
		}
	}
	for range r.Count() {
		seq := r.Uint()
		if seq <= c.sent || c.open(seq) {
			r.Fail()
			return
		}
		s := c.single(seq, len(c.streams))
		s.told, s.silent = subset(r, len(c.streams)), subset(r, len(c.streams))
		for j := range s.sums {
			s.sums[j] = digestOf(r)
		}
	}
}

// subset reads a set of some of n replicas.
func subset(r *varint.Reader, n int) set {
	s := set(r.Uint())
	if s&^first(n) != 0 {
		r.Fail()
		return 0
	}
	return s
}

// digestOf reads a number of 32 bits.
func digestOf(r *varint.Reader) uint32 {
	n := r.Uint()
	if n > math.MaxUint32 {
		r.Fail()
	}
	return uint32(n)
}

// rankOf reads a rank at the other end of a channel.
func (m *Machine) rankOf(r *varint.Reader) proto.Rank {
	n := r.Uint()
	if n >= uint64(m.cfg.Ranks) || proto.Rank(n) == m.cfg.Rank {
		r.Fail()
		return 0
	}
	return proto.Rank(n)
}
