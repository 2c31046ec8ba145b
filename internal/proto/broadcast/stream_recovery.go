package broadcast

import (
	"encoding/binary"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// pullLater makes a slot pull after PullDelay unless coloured by then.
func (s *Stream) pullLater(now proto.Time, sl *slot) {
	sl.pullAt = min(sl.pullAt, now+s.cfg.PullDelay)
	s.deadline = min(s.deadline, sl.pullAt)
}

// offered notes that a member has the payload.
func (s *Stream) offered(now proto.Time, sl *slot, from int) {
	if sl.state != waiting || sl.offerer != nobody {
		return
	}
	sl.offerer = from
	switch {
	case sl.target != nobody && s.members[sl.root].gone:
		s.ask(sl, from) // the search is over
	case sl.target != nobody:
		// The root was asked and is live.
	case s.gone > 0:
		sl.pullAt = proto.Never
		s.ask(sl, from)
	default:
		s.pullLater(now, sl)
	}
}

// pull asks the best member there is: one that has the payload, or the root, or
// else the next in turn, until none is left.
func (s *Stream) pull(sl *slot, out *StreamActions) {
	sl.pullAt = proto.Never
	switch {
	case sl.offerer != nobody:
		s.ask(sl, sl.offerer)
	case !s.members[sl.root].gone:
		s.ask(sl, sl.root)
	default:
		for sl.turn++; sl.turn < s.cfg.Size; sl.turn++ {
			if m := (s.cfg.Self + sl.turn) % s.cfg.Size; !s.members[m].gone {
				s.ask(sl, m)
				return
			}
		}
		s.fail(sl, out)
	}
}

func (s *Stream) ask(sl *slot, member int) {
	sl.target = member
	s.tasks.Push(task{kind: pull, number: sl.number, to: member})
}

// missing takes the denial of a member that knows the same members to be gone.
func (s *Stream) missing(sl *slot, from int, out *StreamActions) {
	if sl.state == waiting && sl.target == from && s.members[sl.root].gone {
		s.pull(sl, out)
	}
}

// pulled notes that a member wants the payload, and answers if possible.
func (s *Stream) pulled(sl *slot, from int) {
	sl.askers.add(from)
	s.answer(sl)
}

// answer answers the askers that can be told the truth: the payload, or that it is
// missing, if they and this member know the same to be gone.
func (s *Stream) answer(sl *slot) {
	for to := range sl.askers.drain() {
		if sl.state == arrived || s.canDeny(sl, to) {
			s.tasks.Push(task{kind: reply, number: sl.number, to: to})
		} else {
			sl.askers.add(to)
		}
	}
}

func (s *Stream) canDeny(sl *slot, to int) bool {
	return s.members[sl.root].gone && s.members[to].digest == s.digest
}

// drop takes a member out for good: this member then expects of others what it expected of that
// one.
func (s *Stream) drop(now proto.Time, member int, out *StreamActions) {
	m := &s.members[member]
	if m.gone || member == s.cfg.Self {
		return
	}
	m.gone = true
	s.gone++
	// The members are mixed so that the exclusive or over a set tells sets apart.
	s.digest ^= splitmix.Mix(uint64(member))
	binary.LittleEndian.PutUint64(s.digestBytes[:], s.digest)
	if m.wish > 0 {
		m.wish = 0
		s.wishes--
	}
	for i := range s.slots {
		switch sl := &s.slots[i]; {
		case sl.number == 0:
		case sl.state == arrived:
			s.mendFor(sl, member)
		default:
			s.dropFrom(now, sl, member, out)
		}
	}
	s.findLowest()
	s.settle(now, out)
}

// dropFrom turns a broadcast that isn't coloured to other helpers.
func (s *Stream) dropFrom(now proto.Time, sl *slot, member int, out *StreamActions) {
	s.answer(sl)
	if sl.state != waiting {
		return
	}
	if sl.offerer == member {
		sl.offerer = nobody
	}
	switch rootGone := s.members[sl.root].gone; {
	case sl.target == nobody:
		if sl.started {
			s.pullLater(now, sl)
		}
	case sl.target == sl.offerer:
		// It has the payload and is live: it needn't be sent twice.
	case sl.target == member || rootGone:
		// All that was denied was denied of a smaller set of those gone.
		sl.turn = 0
		s.pull(sl, out)
	}
}
