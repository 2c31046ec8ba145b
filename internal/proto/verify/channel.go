package verify

import (
	"cmp"
	"slices"

	"banyan/internal/proto"
)

// outgoing is what this process has sent to a rank in a context, and what the receivers say
// of the streams.
type outgoing struct {
	context uint64
	dst     proto.Rank
	sent    uint64 // number of the last message, of whatever kind
	// marks are the digests after the eager messages that an acknowledgement may yet ask about, and
	// after the one before them: the first is the base, with number 0 at the beginning.
	marks   []mark
	streams []stream
	differ  set        // streams whose eager messages do
	spare   [][]uint32 // of singles that are over
	singles []single   // rendezvous that not all receivers have told of, in the order in which they were first mentioned
}

// mark is the digest after an eager message.
type mark struct {
	seq    uint64
	digest uint32
	tag    int32
}

// stream is what is known of a stream's eager messages.
type stream struct {
	told        uint64 // up to where they were compared
	agreed      uint64 // up to where they are the same as here
	first, last uint64 // if it differs, the first message that does is one of these
	ahead       []word // said of messages that this process has yet to send: the first and the last
}

// word is what a receiver said.
type word struct {
	seq    uint64
	digest uint32
}

// single is a rendezvous.
type single struct {
	seq    uint64
	sent   bool // by this process
	sum    uint32
	tag    int32
	told   set
	silent set // told without a digest
	sums   []uint32
}

func (m *Machine) outgoing(context uint64, dst proto.Rank) *outgoing {
	if c := m.sending.Find(context, dst); c != nil {
		return c
	}
	n := max(m.cfg.Degree(m.cfg.Rank), m.cfg.Degree(dst))
	return m.sending.Add(context, dst, &outgoing{context: context, dst: dst, marks: make([]mark, 1, 8), streams: make([]stream, n)})
}

// Sent takes in that this process has sent a message, the next in number of its channel.
func (m *Machine) Sent(context uint64, dst proto.Rank, seq uint64, rendezvous bool, tag int32, sum uint32, out *Verdicts) {
	c := m.outgoing(context, dst)
	c.sent = seq
	if rendezvous {
		s := c.single(seq, len(c.streams))
		s.sent, s.sum, s.tag = true, sum, tag
		m.judgeSingles(c, out)
	} else {
		c.marks = append(c.marks, mark{seq, roll(c.marks[len(c.marks)-1].digest, sum), tag})
	}
	for j := range c.streams {
		for st := &c.streams[j]; len(st.ahead) > 0 && st.ahead[0].seq <= seq; {
			c.compare(j, st.ahead[0])
			st.ahead = slices.Delete(st.ahead, 0, 1)
		}
	}
	m.judge(c, out)
	m.trim(c)
}

// Acked takes in what a receiver says of its stream: the digest of all eager messages up
// to seq or, of a rendezvous, of the message with that number. known is false where it
// can't tell.
func (m *Machine) Acked(from proto.Rank, replica int, context, seq uint64, rendezvous bool, digest uint32, known bool, out *Verdicts) {
	c := m.outgoing(context, from)
	if !m.receivers(from).has(replica) || replica == m.cfg.Replica && !rendezvous {
		return // it is gone; or it is this process's own stream, of which only its replacements may need to know
	}
	if rendezvous {
		if seq <= c.sent && !c.open(seq) {
			return // told again, after all had told
		}
		s := c.single(seq, len(c.streams))
		s.told |= only(replica)
		s.sums[replica] = digest
		s.silent &^= only(replica)
		if !known {
			s.silent |= only(replica)
		}
		m.judgeSingles(c, out)
		return
	}
	st := &c.streams[replica]
	switch w := (word{seq, digest}); {
	case !known || seq <= st.told:
		return
	case seq > c.sent:
		// The first of them is compared as soon as it can be, and the last says as much as
		// those between. One that is told anew says nothing new.
		switch n := len(st.ahead); {
		case n > 0 && seq <= st.ahead[n-1].seq:
		case n == 2:
			st.ahead[1] = w
		default:
			st.ahead = append(st.ahead, w)
		}
		return
	default:
		c.compare(replica, w)
	}
	m.judge(c, out) // a stream that agrees votes, too
	m.trim(c)
}

// compare compares what a receiver said of stream j with what was sent here.
func (c *outgoing) compare(j int, w word) {
	st, i := &c.streams[j], c.upto(w.seq)
	if i < 0 || w.seq <= st.told {
		return
	}
	st.told = w.seq
	switch {
	case c.differ.has(j): // for ever
	case c.marks[i].digest == w.digest:
		st.agreed = w.seq
	default:
		c.differ |= only(j)
		st.first, st.last = st.agreed+1, w.seq
	}
}

// upto is the index of the last mark up to a number, -1 if that is forgotten.
func (c *outgoing) upto(seq uint64) int {
	i, found := slices.BinarySearchFunc(c.marks, seq, func(k mark, seq uint64) int { return cmp.Compare(k.seq, seq) })
	if !found {
		i--
	}
	return i
}

// judge counts the votes about eager messages.
func (m *Machine) judge(c *outgoing, out *Verdicts) {
	for rest := c.differ & (m.senders | m.receivers(c.dst)); rest != 0; rest &= rest - 1 {
		st, v := &c.streams[rest.lowest()], vote{differ: c.differ}
		for k := range c.streams {
			if !c.differ.has(k) && c.streams[k].agreed >= st.last {
				v.agree |= only(k)
			}
		}
		if kind := m.outcome(c, v); kind != 0 {
			w := Verdict{First: st.first, Last: st.last}
			if i := c.upto(st.last); i >= 0 {
				w.Tag = c.marks[i].tag
			}
			m.declare(c, kind, v.differ, w, out)
		}
	}
}

// trim forgets the digests that no acknowledgement will ask about.
func (m *Machine) trim(c *outgoing) {
	asked := c.sent
	for rest := m.awaited(c.dst); rest != 0; rest &= rest - 1 {
		asked = min(asked, c.streams[rest.lowest()].told)
	}
	if i := c.upto(asked); i > 0 {
		c.marks = slices.Delete(c.marks, 0, i)
	}
}

// open tells whether there is a record of a rendezvous.
func (c *outgoing) open(seq uint64) bool {
	return slices.ContainsFunc(c.singles, func(s single) bool { return s.seq == seq })
}

// single finds or makes the record of a rendezvous.
func (c *outgoing) single(seq uint64, streams int) *single {
	if i := slices.IndexFunc(c.singles, func(s single) bool { return s.seq == seq }); i >= 0 {
		return &c.singles[i]
	}
	var sums []uint32
	if n := len(c.spare); n > 0 {
		sums, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		sums = make([]uint32, streams)
	}
	c.singles = append(c.singles, single{seq: seq, sums: sums})
	return &c.singles[len(c.singles)-1]
}

// judgeSingles counts the votes about rendezvous.
func (m *Machine) judgeSingles(c *outgoing, out *Verdicts) {
	c.singles = slices.DeleteFunc(c.singles, func(s single) bool {
		if !s.sent {
			return false
		}
		v := vote{silent: s.silent}
		for j := range c.streams {
			switch {
			case j == m.cfg.Replica || !s.told.has(j) || s.silent.has(j):
			case s.sums[j] == s.sum:
				v.agree |= only(j)
			default:
				v.differ |= only(j)
			}
		}
		if v.differ&(m.senders|m.receivers(c.dst)) != 0 {
			if kind := m.outcome(c, v); kind != 0 {
				m.declare(c, kind, v.differ, Verdict{First: s.seq, Last: s.seq, Tag: s.tag}, out)
			}
		}
		if m.awaited(c.dst)&^s.told != 0 {
			return false
		}
		c.spare = append(c.spare, s.sums)
		return true
	})
}
