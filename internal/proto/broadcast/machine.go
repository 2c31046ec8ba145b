package broadcast

import (
	"banyan/internal/proto"
	"banyan/internal/topology"
)

// State is one process of one broadcast. It is made by [Config.Start], holds no
// pointer and may be copied and compared.
type State struct {
	children topology.Cursor // tree messages still to be sent
	self     int32
	parent   int32 // who sent the tree message first; -1: nobody yet, or the root

	// Corrections: how far they went to each side, and how far away is the nearest
	// process on that side from which one came (0: none came).
	sentLeft, sentRight   int32
	heardLeft, heardRight int32

	pending int32 // children (Acknowledged) that haven't acknowledged yet
	flags   flags
}

type flags uint8

const (
	flagColoured    flags = 1 << iota
	flagReached           // by a tree message, or being the root
	flagSpreading         // sends to its children
	flagParticipant       // sends corrections
	flagAnswered          // has acknowledged to its parent
)

func (s *State) is(f flags) bool { return s.flags&f != 0 }

// Coloured says whether the process has the message.
func (s *State) Coloured() bool { return s.is(flagColoured) }

// Reached says whether dissemination has reached the process: it is the root or
// got a tree message.
func (s *State) Reached() bool { return s.is(flagReached) }

// Done says of an acknowledged tree whether the process knows that everyone at
// and below it has the message.
func (s *State) Done() bool { return s.is(flagAnswered) }

// Start puts a process at the beginning of a broadcast. The root has the message
// by that.
func (c *Config) Start(s *State, self int) {
	*s = State{self: int32(self), parent: -1}
	if self == 0 {
		c.colour(s, KindTree)
	}
}

// Receive handles a message. It returns true if the process is coloured by it:
// at most once, and never at the root.
func (c *Config) Receive(s *State, from int, kind Kind) bool {
	switch kind {
	case KindTree:
		if s.parent < 0 && s.self != 0 {
			s.parent = int32(from)
		}
	case KindLeft:
		s.heardRight = nearest(s.heardRight, c.distance(int(s.self), from))
	case KindRight:
		s.heardLeft = nearest(s.heardLeft, c.distance(from, int(s.self)))
	case KindAck:
		s.pending--
		return false
	}
	first := !s.is(flagColoured)
	c.colour(s, kind)
	return first
}

// colour notes that a message has come, and what the process has to send for it.
func (c *Config) colour(s *State, kind Kind) {
	first := !s.is(flagColoured)
	s.flags |= flagColoured
	if kind == KindTree {
		s.flags |= flagReached
	}
	// A process that was reached by a synchronised correction leaves dissemination,
	// which is over, alone, unless a late tree message shows that it isn't.
	if !s.is(flagSpreading) && (kind == KindTree || !c.Synchronised) {
		s.flags |= flagSpreading
		s.children = c.Tree.Children(int(s.self))
	}
	if first && c.takesPart(kind) {
		s.flags |= flagParticipant
	}
}

// takesPart says whether a process that is coloured by a message of this kind
// sends corrections.
func (c *Config) takesPart(kind Kind) bool {
	switch c.Correction {
	case Checked:
		return kind == KindTree
	case Optimised:
		return kind == KindTree || !c.Synchronised
	}
	return false
}

// SendReady returns the next message to send, of a process that could send one
// now. It is false if there is none, until something is received or
// [Config.Deadline] comes.
func (c *Config) SendReady(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	if s.is(flagSpreading) {
		if child, ok := c.Tree.Next(&s.children); ok {
			s.pending++
			return child, KindTree, true
		}
	}
	switch {
	case s.is(flagParticipant):
		if c.Synchronised && now < c.CorrectAt {
			return 0, 0, false
		}
		return c.correct(s)
	case c.Correction == Acknowledged:
		return c.acknowledge(s)
	}
	return 0, 0, false
}

// correct returns the process's next correction.
func (c *Config) correct(s *State) (to int, kind Kind, ok bool) {
	left, right := int32(0), int32(0) // how far it would go, 0: not at all
	switch c.Correction {
	case Checked:
		left, right = c.checked(s)
	case Optimised:
		left, right = c.optimised(s)
	}
	// Left first, then to the side that is less advanced.
	if left > 0 && (right == 0 || left <= right) {
		s.sentLeft = left
		return c.at(int(s.self) - int(left)), KindLeft, true
	}
	if right > 0 {
		s.sentRight = right
		return c.at(int(s.self) + int(right)), KindRight, true
	}
	return 0, 0, false
}

// Deadline is the time at which the process may have something to send although
// nothing has been received: the start of synchronised correction.
func (c *Config) Deadline(s *State, now proto.Time) proto.Time {
	if c.Synchronised && s.is(flagParticipant) && now < c.CorrectAt {
		return c.CorrectAt
	}
	return proto.Never
}

// distance is the way along the ring from a position up to another.
func (c *Config) distance(from, to int) int32 { return int32(c.at(to - from)) }

// at is the position that an offset of less than one turn leads to.
func (c *Config) at(position int) int {
	switch n := c.Tree.Procs(); {
	case position < 0:
		return position + n
	case position >= n:
		return position - n
	}
	return position
}

func nearest(known, distance int32) int32 {
	if known == 0 {
		return distance
	}
	return min(known, distance)
}
