package broadcast

import (
	"math/bits"

	"banyan/internal/proto"
)

// slotState is how far a broadcast has come at this member.
type slotState uint8

const (
	waiting slotState = iota // the payload isn't here
	arrived                  // it is
	failed                   // it can't come any more
)

// slot is one broadcast at one member.
type slot struct {
	number  uint64 // 0: the slot is free
	root    int
	state   slotState
	started bool // the program waits for it, or did
	done    bool // handed up
	// Of the shape Named: its relayOn hasn't ended; it stands in uncorrected, in lingering.
	spreading, queued, lingers bool
	payload                    []byte
	shape                      Shape
	relay                      State // sends once the payload is here
	holders                    set   // members from which it came, or an offer of it, or to which either was sent

	// Recovery, while waiting.
	pullAt  proto.Time // when to pull, unless coloured; Never if there is no need
	offerer int        // a member that has the payload, or nobody
	target  int        // the member that was asked for it, or nobody
	turn    int        // of the search: how far from this member the target is
	askers  set        // members that this one couldn't answer yet
}

const nobody = -1

// slot gives the slot of a number in (stable, stable+2·Window], with the given root
// if it is new.
func (s *Stream) slot(number uint64, root int) *slot {
	sl := &s.slots[number%uint64(len(s.slots))]
	if sl.number != number {
		*sl = slot{
			number: number, root: root, pullAt: proto.Never,
			offerer: nobody, target: nobody, askers: sl.askers[:0], holders: sl.holders[:0],
		}
		s.shape(sl, Shallow)
	}
	return sl
}

// shape gives a broadcast that isn't coloured its tree.
func (s *Stream) shape(sl *slot, shape Shape) {
	sl.shape = shape
	s.tree(sl).Start(&sl.relay, s.position(sl, s.cfg.Self))
}

// known gives the slot of a number, or nil if it is stable by now.
func (s *Stream) known(number uint64) *slot {
	if sl := &s.slots[number%uint64(len(s.slots))]; sl.number == number {
		return sl
	}
	return nil
}

// position is a member's position in the tree of a broadcast; the root's is 0.
func (s *Stream) position(sl *slot, member int) int {
	if member < sl.root {
		return member - sl.root + s.cfg.Size
	}
	return member - sl.root
}

// member is the member at a position in the tree of a broadcast.
func (s *Stream) member(sl *slot, position int) int {
	if m := position + sl.root; m < s.cfg.Size {
		return m
	}
	return position + sl.root - s.cfg.Size
}

// begin follows the program's start of a number that has its slot.
func (s *Stream) begin(now proto.Time, number uint64, root int, shape Shape, payload []byte, out *StreamActions) {
	sl := s.slot(number, root)
	sl.started = true
	switch {
	case sl.state == waiting && sl.root == s.cfg.Self:
		s.shape(sl, shape)
		s.colour(sl, payload, out)
		return
	case sl.state == waiting && (s.gone > 0 || s.misses()):
		s.pullLater(now, sl)
	}
	recycle(payload, out)
	s.handUp(sl, out)
}

// colour follows the arrival of the payload.
func (s *Stream) colour(sl *slot, payload []byte, out *StreamActions) {
	sl.state, sl.payload = arrived, payload
	sl.pullAt, sl.target = proto.Never, nobody
	s.tasks.Push(task{kind: relayOn, number: sl.number})
	sl.spreading = true
	for to := range sl.askers.drain() {
		s.tasks.Push(task{kind: reply, number: sl.number, to: to})
	}
	s.handUp(sl, out)
}

// fail follows the end of a search.
func (s *Stream) fail(sl *slot, out *StreamActions) {
	sl.state, sl.pullAt, sl.target = failed, proto.Never, nobody
	s.handUp(sl, out)
}

// handUp tells the program how a broadcast ended, if it has and the program has
// started it.
func (s *Stream) handUp(sl *slot, out *StreamActions) {
	if sl.state == waiting || !sl.started || sl.done {
		return
	}
	sl.done = true
	a := StreamAction{Kind: Coloured, Frame: Frame{Number: sl.number, Root: sl.root, Payload: sl.payload}}
	if sl.state == failed {
		a.Kind, a.To = Failed, sl.root
	}
	*out = append(*out, a)
	if sl.number == s.completed+1 {
		for next := sl; next != nil && next.done; next = s.known(s.completed + 1) {
			s.completed++
		}
		s.grantWishes()
	}
}

// set is a set of members, empty at length 0.
type set []uint64

func (b *set) add(member int) {
	for len(*b) <= member/64 {
		*b = append(*b, 0)
	}
	(*b)[member/64] |= 1 << (member % 64)
}

func (b set) has(member int) bool {
	return member/64 < len(b) && b[member/64]>>(member%64)&1 == 1
}

// none tells whether the set never had a member. One that was drained had.
func (b set) none() bool { return len(b) == 0 }

// drain iterates over the members and takes each out. Some may be put back.
func (b set) drain() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i, word := range b {
			b[i] = 0
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					b[i] |= word & (word - 1)
					return
				}
			}
		}
	}
}
