package verify

import (
	"math/bits"

	"banyan/internal/channel"
	"banyan/internal/proto"
)

// Config identifies the process that the machine belongs to.
type Config struct {
	Rank    proto.Rank // of this process
	Replica int        // which of its replicas this is
	Ranks   int        // of the job
	// Degree is the number of replicas of a rank, at most 64.
	Degree func(r proto.Rank) int
	// Covers tells whether this process is the one that sends to the receivers with a number: its
	// own, or that of a dead replica of its rank. Those tell the others of the rank, not this one.
	Covers func(replica int) bool
}

// Kind says what a vote has come to.
type Kind uint8

// Kinds of verdicts.
const (
	Outvoted    Kind = iota + 1 // stream Replica is wrong: stop its sender and its receiver
	Outnumbered                 // this process is wrong, or all differ: it has to stop
	Undecided                   // this process and stream Replica differ, and no majority can say who is wrong
)

func (k Kind) String() string {
	return [...]string{"no verdict", "outvoted", "outnumbered", "undecided"}[k]
}

// Verdict is the outcome of a vote about one of the messages with the numbers First to Last
// of the channel (Context, own rank, Dst).
type Verdict struct {
	Kind        Kind
	Replica     int // the stream; of Outnumbered, one that differs
	Context     uint64
	Dst         proto.Rank
	First, Last uint64
	Tag         int32 // of message Last
}

// Verdicts is a caller-owned output to which the machine appends.
type Verdicts []Verdict

// Machine compares what one process sends with what the other replicas of its rank send,
// and digests what the process receives.
type Machine struct {
	cfg     Config
	senders set                // replicas of the own rank that live and aren't outvoted
	gone    map[proto.Rank]set // receivers that are dead, have left or are outvoted

	sending channel.Table[outgoing]
	arrival channel.Table[incoming]

	// condemned says that this process has found itself outnumbered, or a vote undecided.
	condemned bool
}

// set is a set of replicas, bit i for replica i.
type set uint64

func only(replica int) set   { return 1 << replica }
func first(n int) set        { return ^set(0) >> (64 - n) }
func (s set) count() int     { return bits.OnesCount64(uint64(s)) }
func (s set) has(i int) bool { return s&only(i) != 0 }
func (s set) lowest() int    { return bits.TrailingZeros64(uint64(s)) }

// New makes the machine of a process, with all alive.
func New(cfg Config) *Machine {
	return &Machine{
		cfg: cfg, senders: first(cfg.Degree(cfg.Rank)), gone: make(map[proto.Rank]set),
		sending: channel.New[outgoing](cfg.Ranks), arrival: channel.New[incoming](cfg.Ranks),
	}
}

// incoming is a channel from another rank.
type incoming struct {
	context uint64
	src     proto.Rank
	seq     uint64 // number of the last eager message that has arrived
	digest  uint32 // of all up to that
}

func (m *Machine) incoming(context uint64, src proto.Rank) *incoming {
	if c := m.arrival.Find(context, src); c != nil {
		return c
	}
	return m.arrival.Add(context, src, &incoming{context: context, src: src})
}

// Arrived takes in an eager message from another rank, the next of its channel, with its number.
func (m *Machine) Arrived(context uint64, src proto.Rank, seq uint64, sum uint32) {
	c := m.incoming(context, src)
	c.seq, c.digest = seq, roll(c.digest, sum)
}

// Digest is that of all eager messages that have arrived on a channel, for the cumulative
// acknowledgement.
func (m *Machine) Digest(context uint64, src proto.Rank) uint32 {
	return m.incoming(context, src).digest
}

// Condemned tells whether the process must not go on: a verdict other than Outvoted was
// reached.
func (m *Machine) Condemned() bool { return m.condemned }

// receivers are the replicas of a rank that can tell what they get.
func (m *Machine) receivers(dst proto.Rank) set { return first(m.cfg.Degree(dst)) &^ m.gone[dst] }

// awaited are the streams that a receiver will tell this process of.
func (m *Machine) awaited(dst proto.Rank) set {
	all := m.receivers(dst) &^ only(m.cfg.Replica)
	for rest := all; rest != 0; rest &= rest - 1 {
		if j := rest.lowest(); m.cfg.Covers(j) {
			all &^= only(j)
		}
	}
	return all
}

// Gone says that a process has died or left: it has no voice any more.
func (m *Machine) Gone(r proto.Rank, replica int, out *Verdicts) {
	if r == m.cfg.Rank {
		if replica == m.cfg.Replica {
			return
		}
		m.senders &^= only(replica)
	} else {
		m.gone[r] |= only(replica)
	}
	m.reconsider(r, out)
}

// reconsider counts the votes anew that a change of a rank's replicas concerns.
func (m *Machine) reconsider(r proto.Rank, out *Verdicts) {
	for _, c := range m.sending.All() {
		if r == m.cfg.Rank || r == c.dst {
			m.judge(c, out)
			m.judgeSingles(c, out)
			m.trim(c)
		}
	}
}

// vote is what the streams say about one message, or a few.
type vote struct {
	agree, differ set // with this process; they say nothing of the others yet
	silent        set // that never will
}

// outcome counts a vote: Outvoted for all of differ, Outnumbered, Undecided, or 0 while
// more voices may come.
func (m *Machine) outcome(c *outgoing, v vote) Kind {
	self := only(m.cfg.Replica)
	voters := m.senders & m.receivers(c.dst) &^ self &^ v.silent
	needed := max(2, m.senders.count()/2+1)
	agreeing := 1 + (v.agree & m.senders &^ self).count()
	possible := agreeing + (voters &^ v.agree &^ v.differ).count()
	switch {
	case agreeing >= needed:
		return Outvoted
	case possible >= needed:
		return 0
	case m.senders.count() >= 3 && m.senders.count()-(v.differ&m.senders).count() < needed:
		return Outnumbered
	}
	return Undecided
}

// declare carries out an outcome.
func (m *Machine) declare(c *outgoing, kind Kind, differ set, v Verdict, out *Verdicts) {
	if m.condemned {
		return
	}
	v.Kind, v.Context, v.Dst = kind, c.context, c.dst
	if kind != Outvoted {
		m.condemned = true
		v.Replica = differ.lowest()
		*out = append(*out, v)
		return
	}
	for ; differ != 0; differ &= differ - 1 {
		v.Replica = differ.lowest()
		if m.senders.has(v.Replica) || m.receivers(c.dst).has(v.Replica) {
			*out = append(*out, v)
		}
		m.senders &^= only(v.Replica)
		m.gone[c.dst] |= only(v.Replica)
	}
}
