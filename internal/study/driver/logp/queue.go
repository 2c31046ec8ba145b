package logp

import "banyan/internal/proto"

// queue is first in, first out, in a ring that doubles when it is full.
type queue[T any] struct {
	ring []T // its length is a power of two, or 0
	head int
	size int
}

func (q *queue[T]) push(x T) {
	if q.size == len(q.ring) {
		grown := make([]T, max(64, 2*len(q.ring)))
		n := copy(grown, q.ring[q.head:])
		copy(grown[n:], q.ring[:q.head])
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = x
	q.size++
}

func (q *queue[T]) pop() T {
	x := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return x
}

// at is the i-th entry from the head. It may be changed in place.
func (q *queue[T]) at(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// first are the first entries, in two parts if they go round the ring's end. They
// stay as they are until they are dropped, whatever is pushed meanwhile.
func (q *queue[T]) first(count int) (parts [2][]T) {
	n := min(count, len(q.ring)-q.head)
	return [2][]T{q.ring[q.head : q.head+n], q.ring[:count-n]}
}

// drop takes out the first entries.
func (q *queue[T]) drop(count int) {
	q.head = (q.head + count) & max(0, len(q.ring)-1)
	q.size -= count
}

func (q *queue[T]) clear() { q.head, q.size = 0, 0 }

// stage is what is under way and takes each the same time. So it ends in the order
// in which it began: a queue, with its time kept once for all that end at the
// same instant.
type stage[T any] struct {
	instants queue[instant]
	entries  queue[T]
}

type instant struct {
	time  proto.Time
	count int
}

// push adds what ends at a time, which isn't before that of the last.
func (s *stage[T]) push(end proto.Time, x T) {
	s.entries.push(x)
	i := &s.instants
	if i.size > 0 {
		if last := i.at(i.size - 1); last.time == end {
			last.count++
			return
		}
	}
	i.push(instant{end, 1})
}

// next is the time at which something ends next, or Never.
func (s *stage[T]) next() proto.Time {
	if s.instants.size == 0 {
		return proto.Never
	}
	return s.instants.at(0).time
}

// ending says how many entries end now; that many may be popped.
func (s *stage[T]) ending(now proto.Time) int {
	if s.next() != now {
		return 0
	}
	return s.instants.pop().count
}

func (s *stage[T]) clear() {
	s.instants.clear()
	s.entries.clear()
}
