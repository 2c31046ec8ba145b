package oneworld

import (
	"container/heap"

	"banyan/internal/proto"
)

// schedule is what is to happen, in order of time. Of events at the same time the one that was
// added first comes first.
type schedule struct {
	events eventHeap
	serial uint64
}

type event struct {
	at     proto.Time
	serial uint64
	do     func()
}

func (s *schedule) add(at proto.Time, do func()) {
	s.serial++
	heap.Push(&s.events, event{at, s.serial, do})
}

func (s *schedule) empty() bool      { return len(s.events) == 0 }
func (s *schedule) next() proto.Time { return s.events[0].at }
func (s *schedule) take() event      { return heap.Pop(&s.events).(event) }

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].serial < h[j].serial
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return x
}

// actor is something that can be stopped and continued: a host, an agent, or a process of the job.
// What comes meanwhile waits.
type actor struct {
	until proto.Time // stopped until then
	held  []func()
}

// act calls f now, or when the actor goes on.
func (a *actor) act(now proto.Time, f func()) {
	if now < a.until {
		a.held = append(a.held, f)
		return
	}
	f()
}

// goOn calls what has waited, if the time for it has come.
func (a *actor) goOn(now proto.Time) {
	if now < a.until {
		return // it was stopped again, for longer
	}
	held := a.held
	a.held = nil
	for _, f := range held {
		f()
	}
}
