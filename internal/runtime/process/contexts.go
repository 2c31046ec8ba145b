package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/runtime/wire"
)

// contexts are the contexts of communicators that the process knows.
type contexts struct {
	byID    map[uint64]*context
	recent  [2]*context         // the ones looked up last, the even and the odd, or nil
	active  []*context          // those whose stream may have something to send
	orphans map[uint64][]orphan // frames of broadcasts in contexts that aren't open yet

	revoked int // communicators revoked here, ever

	forgotten [keepForgotten]uint64 // those forgotten last: their late frames are dropped
	forgets   int                   // how many ever
}

// keepForgotten is how many forgotten contexts are remembered. The only frame that may still
// come of one is the answer to a pull that has become pointless. It was queued before its
// sender closed others, so it comes before many others are forgotten.
const keepForgotten = 64

// context is what the process knows of one context of a communicator.
type context struct {
	id         uint64
	members    []proto.Rank
	self       int
	collective bool
	sources    []proto.Rank // the members that may send to this rank; nil: all
	failed     []proto.Rank // members known to have failed, in the order in which this process learnt of it
	acked      int          // how many of them the program has acknowledged

	// Unreplicated jobs broadcast over corrected trees, in collective contexts.
	broadcasts bool
	stream     *broadcast.Stream // nil before the first broadcast
	indices    []int32           // by world rank: its index, or -1; nil if they are the same
	out        broadcast.StreamActions
	waiting    []Handle // broadcasts of the program in their order, not yet ended
	broken     bool     // members disagreed about a size: they are out of step
	begun      bool     // the program has broadcast

	family  uint64 // the context of point-to-point messages of its communicator
	shut    bool   // closed or revoked, or a member has finished: operations look at what is wrong
	revoked bool
	closed  bool   // by the program here
	closers []bool // by member: closed there; nil before the first
}

// orphan is a frame of a broadcast that came before its context was opened here.
type orphan struct {
	from    proto.Proc
	header  wire.Header
	payload []byte // pooled
}

func newContexts() contexts {
	return contexts{byID: make(map[uint64]*context), orphans: make(map[uint64][]orphan)}
}

// find gives a context, or nil.
func (s *contexts) find(id uint64) *context {
	if c := s.recent[id%2]; c != nil && c.id == id {
		return c
	}
	return s.lookUp(id)
}

func (s *contexts) lookUp(id uint64) *context {
	c := s.byID[id]
	if c != nil {
		s.recent[id%2] = c
	}
	return c
}

// remove takes a context out of the tables.
func (s *contexts) remove(c *context) {
	delete(s.byID, c.id)
	s.recent[c.id%2] = nil
}

// deactivate has a context's stream never send again.
func (s *contexts) deactivate(c *context) {
	s.active = slices.DeleteFunc(s.active, func(a *context) bool { return a == c })
}

// forget removes the active contexts of which done says so, and remembers them as forgotten.
func (s *contexts) forget(done func(c *context) bool) {
	s.active = slices.DeleteFunc(s.active, func(c *context) bool {
		if !done(c) {
			return false
		}
		s.remove(c)
		s.forgotten[s.forgets%keepForgotten] = c.id
		s.forgets++
		return true
	})
}

// wasForgotten tells whether a context is one of those forgotten last.
func (s *contexts) wasForgotten(id uint64) bool { return slices.Contains(s.forgotten[:], id) }

// takeOrphans gives the frames that came before a context was opened, and forgets them.
func (s *contexts) takeOrphans(id uint64) []orphan {
	list := s.orphans[id]
	delete(s.orphans, id)
	return list
}

// family lists the contexts of a communicator, in ascending order.
func (s *contexts) family(id uint64) []uint64 {
	var list []uint64
	for _, c := range s.byID {
		if c.family == id { //banyan:maporder sorted below
			list = append(list, c.id)
		}
	}
	slices.Sort(list)
	return list
}

// noteLost notes in each context of which a rank is a member that the rank is lost.
func (s *contexts) noteLost(rank proto.Rank) {
	for _, c := range s.byID {
		c.noteFailed(rank) //banyan:maporder each context by itself
	}
}

// deadline is when the first stream needs to be called.
func (s *contexts) deadline() proto.Time {
	d := proto.Never
	for _, c := range s.active {
		d = min(d, c.stream.Deadline())
	}
	return d
}

// senders are the members from which a receive from any source may get its message.
func (c *context) senders() []proto.Rank {
	if c.sources != nil {
		return c.sources
	}
	return c.members
}

// inverse is the index of each world rank, or nil if that is the rank.
func (c *context) inverse(ranks int) []int32 {
	if c.members[len(c.members)-1] == proto.Rank(len(c.members)-1) && slices.IsSorted(c.members) {
		return nil
	}
	indices := make([]int32, ranks)
	for r := range indices {
		indices[r] = -1
	}
	for i, m := range c.members {
		indices[m] = int32(i)
	}
	return indices
}

// index is a rank's index in the context, or -1.
func (c *context) index(r proto.Rank) int {
	// World ranks are their own index in the world and its duplicates.
	if int(r) < len(c.members) && c.members[r] == r {
		return int(r)
	}
	if c.indices != nil {
		return int(c.indices[r])
	}
	for i, m := range c.members {
		if m == r {
			return i
		}
	}
	return -1
}
