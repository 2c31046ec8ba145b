// Package queue has a queue, first in, first out, in a ring of memory.
//
// The ring begins with room for eight elements and doubles when it is full, so that a Push takes
// constant time on average. It never shrinks: a queue that is used in a steady flow allocates
// nothing. Elements that were taken out stay in the ring's memory until they are written over, so
// what they point to stays reachable until then.
//
// A queue has one owner: it takes no lock.
package queue

// initial is how many elements the first ring has room for. It is a power of two.
const initial = 8

// Queue is a queue of Ts. The zero Queue is empty and ready.
type Queue[T any] struct {
	ring []T // its length is a power of two, or 0
	head int // index of the oldest element
	size int
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return q.size }

// Push adds an element at the end.
func (q *Queue[T]) Push(x T) {
	if q.size == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = x
	q.size++
}

func (q *Queue[T]) grow() {
	grown := make([]T, max(initial, 2*len(q.ring)))
	n := copy(grown, q.ring[q.head:])
	copy(grown[n:], q.ring[:q.head])
	q.ring, q.head = grown, 0
}

// Pop takes out the oldest element. The queue must not be empty.
func (q *Queue[T]) Pop() T {
	x := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return x
}

// Front is the oldest element, in place: it may be changed until the next Push. The queue must
// not be empty.
func (q *Queue[T]) Front() *T { return &q.ring[q.head] }

// At is the element number i, counted from the oldest, in place: it may be changed until the next
// Push. There must be more than i elements.
func (q *Queue[T]) At(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// First are the oldest elements, as many as count says, in two parts: the second is empty unless
// they go round the ring's end. They stay as they are until they are dropped, whatever is pushed
// meanwhile.
func (q *Queue[T]) First(count int) (parts [2][]T) {
	n := min(count, len(q.ring)-q.head)
	return [2][]T{q.ring[q.head : q.head+n], q.ring[:count-n]}
}

// Drop takes out the oldest elements, as many as count says.
func (q *Queue[T]) Drop(count int) {
	q.head = (q.head + count) & max(0, len(q.ring)-1)
	q.size -= count
}

// Clear empties the queue, and keeps its memory.
func (q *Queue[T]) Clear() { q.head, q.size = 0, 0 }
