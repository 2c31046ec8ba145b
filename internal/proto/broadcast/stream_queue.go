package broadcast

// queue is first in, first out, in a buffer that grows and is reused.
type queue[T any] struct {
	ring  []T // length a power of two, or 0
	first int
	count int
}

func (q *queue[T]) len() int { return q.count }

// front is the oldest element, in place. The queue must not be empty.
func (q *queue[T]) front() *T { return &q.ring[q.first] }

func (q *queue[T]) push(v T) {
	if q.count == len(q.ring) {
		ring := make([]T, max(8, 2*len(q.ring)))
		n := copy(ring, q.ring[q.first:])
		copy(ring[n:], q.ring[:q.first])
		q.ring, q.first = ring, 0
	}
	q.ring[(q.first+q.count)&(len(q.ring)-1)] = v
	q.count++
}

func (q *queue[T]) pop() T {
	v := q.ring[q.first]
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.count--
	return v
}
