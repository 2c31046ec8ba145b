package logp

import (
	"banyan/internal/proto"
	"banyan/internal/queue"
)

// stage holds the messages in one step that takes all of them the same time. So they end it in
// the order in which they began it: it is a queue, and keeps the time once for all messages
// that end at the same instant.
type stage[T any] struct {
	instants queue.Queue[instant]
	entries  queue.Queue[T]
}

type instant struct {
	time  proto.Time
	count int
}

// push adds a message that ends at a time not before that of the last one.
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

// next is the time at which the next message ends, or Never.
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
