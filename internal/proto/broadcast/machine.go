package broadcast

import (
	"banyan/internal/proto"
	"banyan/internal/topology"
)

// State is one process of one broadcast. It is made by [Config.Start], holds no
// pointer and may be copied and compared.
type State struct {
	due      proto.Time      // Delayed: until when the process waits for its neighbour
	children topology.Cursor // tree messages still to be sent
	self     int32

	// Corrections: how far they went to each side, and how far away is the nearest
	// process on that side from which one came (0: none came). With FailureProof
	// the first two say how far all are known to have been sent to, by any process,
	// the others how far away a process is that has to be answered (0: none).
	sentLeft, sentRight   int32
	heardLeft, heardRight int32

	// count is of children that haven't acknowledged yet (Acknowledged), or of gossip
	// messages, as rounds; with Delayed it is the distance of the last answer.
	count      int32
	flags      flags
	generation uint8 // Ordered: the process's own
}

type flags uint8

const (
	flagColoured    flags = 1 << iota
	flagReached           // by dissemination, or being the root
	flagSpread            // has begun to send to its children, or to gossip
	flagSpreading         // and hasn't ended: asking costs a look at the tree
	flagParticipant       // sends corrections
	flagAnswered          // has acknowledged to its parent
	flagRight             // its next failure-proof correction goes to the right
)

func (s *State) is(f flags) bool { return s.flags&f != 0 }

// Coloured says whether the process has the message.
func (s *State) Coloured() bool { return s.is(flagColoured) }

// Reached says whether dissemination has reached the process: it is the root or
// got a message of a tree or of gossip.
func (s *State) Reached() bool { return s.is(flagReached) }

// Done says of an acknowledged tree whether the process knows that all at
// and below it has the message.
func (s *State) Done() bool { return s.is(flagAnswered) }

// Start puts a process at the beginning of a broadcast. The root has the message
// by that.
func (c *Config) Start(s *State, self int) {
	*s = State{self: int32(self)}
	if self == 0 {
		c.colour(s, c.rootKind())
	}
}

// rootKind is the kind by which the root is coloured.
func (c *Config) rootKind() Kind {
	if c.Gossip.enabled() {
		return KindGossip
	}
	return KindTree
}

// Receive handles a message. It returns true if the process is coloured by it:
// at most once, and never at the root.
func (c *Config) Receive(s *State, from int, kind Kind) bool {
	switch kind.Base() {
	case KindLeft:
		if distance := c.distance(int(s.self), from); c.Correction == FailureProof {
			c.learn(s, &s.sentRight, &s.heardRight, distance, kind)
		} else if c.Correction != Ordered || c.relies(s, from, kind) {
			s.heardRight = nearest(s.heardRight, distance)
		}
	case KindRight:
		if distance := c.distance(from, int(s.self)); c.Correction == FailureProof {
			c.learn(s, &s.sentLeft, &s.heardLeft, distance, kind)
		} else if c.Correction != Ordered || c.relies(s, from, kind) {
			s.heardLeft = nearest(s.heardLeft, distance)
		}
	case KindAck:
		s.count--
		return false
	}
	first := !s.is(flagColoured)
	if first || kind.disseminates() { // a correction is no news to a coloured process
		c.colour(s, kind)
	}
	return first
}

// colour notes that a message has come, and what the process has to send for it.
func (c *Config) colour(s *State, kind Kind) {
	first := !s.is(flagColoured)
	s.flags |= flagColoured
	if kind.disseminates() {
		s.flags |= flagReached
	}
	// A process that was reached by a synchronised correction leaves dissemination,
	// which is over, alone, unless a late message shows that it isn't.
	if !s.is(flagSpread) && (kind.disseminates() || !c.Synchronised) {
		c.spread(s, kind)
	}
	// Delayed correction can wait for those that dissemination reaches second.
	if (first || c.Correction == Delayed) && c.takesPart(kind) {
		s.flags |= flagParticipant
	}
}

// spread makes a process send the messages of dissemination.
func (c *Config) spread(s *State, kind Kind) {
	if c.Gossip.enabled() {
		c.Gossip.begin(s, kind)
		return
	}
	s.flags |= flagSpread | flagSpreading
	s.children = c.Tree.Children(int(s.self))
}

// takesPart says whether a process that receives a message of this kind sends
// corrections.
func (c *Config) takesPart(kind Kind) bool {
	switch c.Correction {
	case Checked, Delayed:
		return kind.disseminates()
	case Optimised, SkipAhead, Opportunistic, Ordered:
		return kind.disseminates() || !c.Synchronised
	case FailureProof:
		return true
	}
	return false
}

// SendReady returns the next message to send, of a process that could send one
// now. It is false if there is none, until something is received or
// [Config.Deadline] comes.
func (c *Config) SendReady(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	if s.is(flagSpreading) {
		if to, kind, ok := c.disseminate(s, now); ok {
			return to, kind, true
		}
		s.flags &^= flagSpreading
	}
	switch {
	case s.is(flagParticipant):
		if c.Synchronised && now < c.CorrectAt {
			return 0, 0, false
		}
		return c.correct(s, now)
	case c.Correction == Acknowledged:
		return c.acknowledge(s)
	}
	return 0, 0, false
}

// disseminate returns the process's next message along the tree, or of gossip.
func (c *Config) disseminate(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	if c.Gossip.enabled() {
		return c.gossip(s, now)
	}
	child, ok := c.Tree.Next(&s.children)
	if ok && c.Correction == Acknowledged {
		s.count++
	}
	return child, KindTree, ok
}

// correct returns the process's next correction.
func (c *Config) correct(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	left, right := int32(0), int32(0) // how far it would go, 0: not at all
	switch c.Correction {
	case Checked:
		left, right = c.checked(s)
	case Optimised, Ordered:
		left, right = c.optimised(s)
		if right > 0 && right <= left { // right first, as the paper lists them
			left = 0
		}
	case SkipAhead:
		left, right = c.skipAhead(s)
	case Opportunistic:
		left, right = c.opportunistic(s)
	case Delayed:
		return c.delayed(s, now)
	case FailureProof:
		return c.failureProof(s)
	}
	// Left first, then to the side that is less advanced.
	if left > 0 && (right == 0 || left <= right) {
		s.sentLeft = left
		return c.at(int(s.self) - int(left)), KindLeft.withNumber(int(s.generation)), true
	}
	if right > 0 {
		s.sentRight = right
		return c.at(int(s.self) + int(right)), KindRight.withNumber(int(s.generation)), true
	}
	return 0, 0, false
}

// Deadline is the time at which the process may have something to send although
// nothing has been received: the start of synchronised correction, or the end
// of the wait of a delayed one. It changes with every SendReady and Receive.
func (c *Config) Deadline(s *State, now proto.Time) proto.Time {
	switch {
	case !s.is(flagParticipant):
		return proto.Never
	case c.Synchronised && now < c.CorrectAt:
		return c.CorrectAt
	case c.Correction == Delayed && c.waits(s) && now < s.due:
		return s.due
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
