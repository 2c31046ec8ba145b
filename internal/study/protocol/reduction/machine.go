package reduction

import (
	"fmt"
	"math/bits"

	"banyan/internal/proto"
)

// Kind is the kind of a message.
type Kind uint8

const (
	KindCopy Kind = iota + 1 // to a neighbour: the sender's contribution
	KindPart                 // to the parent: the sender's subtree, and its silent processes
	KindTorn                 // the same, and a silent process there has others below
	KindMend                 // to a child: all silent processes
	KindRest                 // to the parent: what has been taken from copies in the sender's subtree
)

var kinds = [...]string{KindCopy: "copy", KindPart: "part", KindTorn: "torn", KindMend: "mend", KindRest: "rest"}

func (k Kind) String() string {
	if k < KindCopy || int(k) >= len(kinds) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kinds[k]
}

// Effect is what the driver does with what a message carries.
type Effect uint8

const (
	Ignore  Effect = iota // nothing: it came too late, or twice
	Keep                  // a copy: keep the contribution, which is the sender's
	Combine               // a part or a rest: combine its value with one's own of that kind, and add its list to one's own
	Mend                  // a list: keep it, to know which copies to take
)

// State is one process of one reduction. It is made by [Config.Start], holds no
// pointer and may be copied and compared.
type State struct {
	reached proto.Time // when dissemination would reach the process
	copies  uint64     // of the i-th neighbours' contributions that are here
	heard   uint64     // children whose parts have been combined
	mended  uint64     // children whose rests have been combined
	self    int32
	copied  int32 // copies sent
	told    int32 // children told of the mending, or passed over
	kids    int32 // children
	flags   flags
}

type flags uint8

const (
	flagClosed  flags = 1 << iota // the part is sent, or at the root final
	flagTorn                      // a silent process in the subtree has others below
	flagMending                   // knows the root's list
	flagDone                      // the rest is sent, or at the root the result is final
)

func (s *State) is(f flags) bool { return s.flags&f != 0 }

// Done says at the root that the result is final, elsewhere that the rest is sent.
func (s *State) Done() bool { return s.is(flagDone) }

// Closed says that the process's part is sent, or at the root that it will count no other one.
func (s *State) Closed() bool { return s.is(flagClosed) }

// Mending says that the process has the root's list, and so takes copies of processes cut off.
func (s *State) Mending() bool { return s.is(flagMending) }

// Copies is the set of the i for which the contribution of the [Config.Origin] is here.
func (s *State) Copies() uint64 { return s.copies }

// Start puts a process at the beginning of a reduction.
func (c *Config) Start(s *State, self int) {
	*s = State{self: int32(self), reached: c.reached(self)}
	for children := c.Tree.Children(self); ; s.kids++ {
		if _, ok := c.Tree.Next(&children); !ok {
			return
		}
	}
}

// Receive handles a message and says what to do with what it carries.
func (c *Config) Receive(s *State, from int, kind Kind) Effect {
	switch kind {
	case KindCopy:
		return c.copy(s, from)
	case KindPart, KindTorn:
		bit := c.childBit(s, from)
		if s.is(flagClosed) || bit&^s.heard == 0 {
			return Ignore
		}
		s.heard |= bit
		if kind == KindTorn {
			s.flags |= flagTorn
		}
		return Combine
	case KindMend:
		if s.is(flagMending) || !s.is(flagClosed) || from != c.Tree.Parent(int(s.self)) || !c.mends() {
			return Ignore
		}
		s.flags |= flagMending
		return Mend
	case KindRest:
		bit := c.childBit(s, from) & s.heard
		if !s.is(flagMending) || s.is(flagDone) || bit&^s.mended == 0 {
			return Ignore
		}
		s.mended |= bit
		return Combine
	}
	return Ignore
}

// copy notes the copy of a contribution, if it isn't too late for it.
func (c *Config) copy(s *State, from int) Effect {
	if s.is(flagDone) || c.Idempotent && s.is(flagClosed) {
		return Ignore
	}
	for i := range int(c.neighbours) {
		if c.Origin(int(s.self), i) == from && s.copies>>i&1 == 0 {
			s.copies |= 1 << i
			return Keep
		}
	}
	return Ignore
}

// childBit is the bit of a child, 0 of any other process.
func (c *Config) childBit(s *State, from int) uint64 {
	if i := c.childIndex(int(s.self), from); i >= 0 {
		return 1 << i
	}
	return 0
}

// SendReady returns the next message to send, of a process that could send one now. It
// is false if there is none until something is received or [Config.Deadline] comes. A
// part or a rest carries what the process has combined until now; into a rest, and into
// the root's result, go the copies whose Taker the process is, into an idempotent part all.
func (c *Config) SendReady(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	if s.copied < c.neighbours {
		s.copied++
		return c.Neighbour(int(s.self), int(s.copied-1)), KindCopy, true
	}
	if !s.is(flagClosed) {
		if !c.complete(s, now) && now < c.partDue(s.reached) {
			return 0, 0, false
		}
		c.close(s)
		if s.self != 0 {
			if s.is(flagTorn) {
				return c.Tree.Parent(int(s.self)), KindTorn, true
			}
			return c.Tree.Parent(int(s.self)), KindPart, true
		}
	}
	if s.is(flagMending) && !s.is(flagDone) {
		return c.mend(s, now)
	}
	return 0, 0, false
}

// complete says whether nothing more can come for the process's part.
func (c *Config) complete(s *State, now proto.Time) bool {
	if bits.OnesCount64(s.heard) < int(s.kids) {
		return false
	}
	return !c.Idempotent || bits.OnesCount64(s.copies) == int(c.neighbours) || now >= c.copied()
}

// close ends the first climb at a process.
func (c *Config) close(s *State) {
	s.flags |= flagClosed
	children := c.Tree.Children(int(s.self))
	for i := range s.kids {
		if child, _ := c.Tree.Next(&children); s.heard>>i&1 == 0 && !c.leaf(child) {
			s.flags |= flagTorn
		}
	}
	switch {
	case s.self != 0: // mends if it is told to
	case s.is(flagTorn) && c.mends():
		s.flags |= flagMending
	default:
		s.flags |= flagDone
	}
}

func (c *Config) leaf(position int) bool {
	children := c.Tree.Children(position)
	_, ok := c.Tree.Next(&children)
	return !ok
}

// mend tells the children that were heard to mend, in the order of dissemination, waits for them,
// and then tells the parent, or is done.
func (c *Config) mend(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	children := c.Tree.Children(int(s.self))
	for i := range s.kids {
		if child, _ := c.Tree.Next(&children); i >= s.told && s.heard>>i&1 != 0 {
			s.told = i + 1
			return child, KindMend, true
		}
	}
	if s.mended != s.heard && now < c.restDue(s.reached) {
		return 0, 0, false
	}
	s.flags |= flagDone
	if s.self == 0 {
		return 0, 0, false
	}
	return c.Tree.Parent(int(s.self)), KindRest, true
}

// AppendSilent appends the children that were given up: after a part those whose parts,
// after a rest (or at the root's end) those whose rests are missing.
func (c *Config) AppendSilent(dst []int32, s *State, kind Kind) []int32 {
	missing := ^s.heard
	if kind == KindRest {
		missing = s.heard &^ s.mended
	}
	children := c.Tree.Children(int(s.self))
	for i := range s.kids {
		if child, _ := c.Tree.Next(&children); missing>>i&1 != 0 {
			dst = append(dst, int32(child))
		}
	}
	return dst
}

// Deadline is the next time at which the process may have something to send although
// nothing has been received. It changes with every SendReady and Receive.
func (c *Config) Deadline(s *State, now proto.Time) proto.Time {
	switch {
	case !s.is(flagClosed):
		if now < c.copied() && bits.OnesCount64(s.heard) == int(s.kids) {
			return c.copied()
		}
		return later(c.partDue(s.reached), now)
	case s.is(flagMending) && !s.is(flagDone):
		return later(c.restDue(s.reached), now)
	}
	return proto.Never
}

func later(t, now proto.Time) proto.Time {
	if t > now {
		return t
	}
	return proto.Never
}
