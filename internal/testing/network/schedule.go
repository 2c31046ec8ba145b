package network

import (
	"container/heap"

	"banyan/internal/proto"
)

// Schedule is what is to happen, by time. What is to happen at the same time comes in the order in
// which it was added. The zero Schedule is empty and ready.
type Schedule[E any] struct {
	entries entries[E]
	made    int // ever
}

type entry[E any] struct {
	at    proto.Time
	made  int
	event E
}

// Add adds an event.
func (s *Schedule[E]) Add(at proto.Time, event E) {
	s.made++
	heap.Push(&s.entries, entry[E]{at, s.made, event})
}

// Time is when the next event happens, or Never.
func (s *Schedule[E]) Time() proto.Time {
	if len(s.entries) == 0 {
		return proto.Never
	}
	return s.entries[0].at
}

// Next takes out the next event. There must be one.
func (s *Schedule[E]) Next() E { return heap.Pop(&s.entries).(entry[E]).event }

// entries is the heap of container/heap.
type entries[E any] []entry[E]

func (h entries[E]) Len() int { return len(h) }
func (h entries[E]) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].made < h[j].made
}
func (h entries[E]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *entries[E]) Push(x any)   { *h = append(*h, x.(entry[E])) }
func (h *entries[E]) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = entry[E]{}
	*h = (*h)[:last]
	return x
}
