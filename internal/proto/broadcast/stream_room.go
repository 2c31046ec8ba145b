package broadcast

import (
	"math"

	"banyan/internal/proto"
)

// impliedStable is the number that a frame's sender knew to be stable.
func (s *Stream) impliedStable(f *Frame) uint64 {
	ahead := s.window() // of a root when it starts
	switch f.Kind {
	case FrameReport:
		return f.Stable
	case FramePull, FrameMissing:
		ahead = uint64(len(s.slots)) // of any member
	}
	if f.Number <= ahead {
		return f.Stable
	}
	return max(f.Stable, f.Number-ahead)
}

// settle forgets what has become stable, which makes room. It ends every call that
// may have changed what this member or the others have completed.
func (s *Stream) settle(now proto.Time, out *StreamActions) {
	for s.stable < min(s.others, s.completed) {
		s.stable++
		sl := s.known(s.stable)
		recycle(sl.payload, out)
		sl.payload, sl.number = nil, 0
		if s.later.Len() > 0 {
			number := s.started - uint64(s.later.Len()) + 1
			s.begin(now, number, int(s.later.Pop()), Shallow, nil, out)
		}
	}
	s.askForRoom()
}

// wantStable notes that this member wants a number to be stable, and asks.
func (s *Stream) wantStable(number uint64) {
	s.need = max(s.need, number)
	s.askForRoom()
}

// askForRoom asks all members that haven't reported enough, unless a question is
// open. It asks for half a window at a time: not less, so that it asks seldom, and
// not more, because a member that needs room knows that so many are under way, and so that
// all will complete them. What lies beyond may have to wait for this member.
func (s *Stream) askForRoom() {
	if s.need > s.stable && s.asked <= s.stable {
		s.asked = s.stable + s.window()/2
		s.tasks.Push(task{kind: question, number: s.asked})
	}
}

// reported takes a question for room or the answer to one.
func (s *Stream) reported(from int, f *Frame) {
	m := &s.members[from]
	switch f.Root {
	case from:
		if f.Number <= s.completed {
			s.tasks.Push(task{kind: report, to: from})
			return
		}
		if m.wish == 0 {
			s.wishes++
		}
		m.wish = max(m.wish, f.Number)
	case s.cfg.Self:
		if f.Number > m.reported {
			s.report(from, f.Number)
		}
	}
}

// report notes what a member has completed: more than it was known to have.
func (s *Stream) report(from int, number uint64) {
	m := &s.members[from]
	lowest := m.reported <= s.others
	m.reported = number
	if lowest { // it may have been the only one
		s.findLowest()
	}
}

// grantWishes answers the questions that this member has come far enough for.
func (s *Stream) grantWishes() {
	for to := 0; s.wishes > 0 && to < len(s.members); to++ {
		if m := &s.members[to]; m.wish > 0 && m.wish <= s.completed {
			m.wish = 0
			s.wishes--
			s.tasks.Push(task{kind: report, to: to})
		}
	}
}

// findLowest takes the lowest number that a live member has reported for what
// all have completed. There is no limit if there is no other.
func (s *Stream) findLowest() {
	lowest := uint64(math.MaxUint64)
	for i := range s.members {
		if m := &s.members[i]; i != s.cfg.Self && !m.gone {
			lowest = min(lowest, m.reported)
		}
	}
	s.others = max(s.others, lowest)
}
