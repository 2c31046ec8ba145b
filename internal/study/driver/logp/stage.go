package logp

import (
	"banyan/internal/proto"
	"banyan/internal/queue"
)

// stage is what is under way and takes each the same time. So it ends in the order
// in which it began: a queue, with its time kept once for all that end at the
// same instant.
type stage[T any] struct {
	instants queue.Queue[instant]
	entries  queue.Queue[T]
}

type instant struct {
	time  proto.Time
	count int
}

// push adds what ends at a time, which isn't before that of the last.
func (s *stage[T]) push(end proto.Time, x T) {
	s.entries.Push(x)
	i := &s.instants
	if i.Len() > 0 {
		if last := i.At(i.Len() - 1); last.time == end {
			last.count++
			return
		}
	}
	i.Push(instant{end, 1})
}

// next is the time at which something ends next, or Never.
func (s *stage[T]) next() proto.Time {
	if s.instants.Len() == 0 {
		return proto.Never
	}
	return s.instants.At(0).time
}

// ending says how many entries end now; that many may be popped.
func (s *stage[T]) ending(now proto.Time) int {
	if s.next() != now {
		return 0
	}
	return s.instants.Pop().count
}

func (s *stage[T]) clear() {
	s.instants.Clear()
	s.entries.Clear()
}
