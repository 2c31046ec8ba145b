package oneworld

import "banyan/internal/proto"

// schedule is what is to happen, in order of time. Of events at the same time the one that was
// added first comes first. It is a heap in which each event has up to four below it.
type schedule struct {
	events []event
	serial uint64
}

type event struct {
	at     proto.Time
	serial uint64
	do     func()
}

func (e *event) before(x *event) bool { return e.at < x.at || e.at == x.at && e.serial < x.serial }

func (s *schedule) add(at proto.Time, do func()) {
	s.serial++
	e := event{at, s.serial, do}
	i := len(s.events)
	s.events = append(s.events, e)
	for i > 0 {
		above := (i - 1) / 4
		if !e.before(&s.events[above]) {
			break
		}
		s.events[i] = s.events[above]
		i = above
	}
	s.events[i] = e
}

func (s *schedule) empty() bool      { return len(s.events) == 0 }
func (s *schedule) next() proto.Time { return s.events[0].at }

func (s *schedule) take() event {
	first, last := s.events[0], len(s.events)-1
	e := s.events[last]
	s.events[last] = event{}
	s.events = s.events[:last]
	for i := 0; last > 0; {
		least := 4*i + 1
		for j := least + 1; j < min(4*i+5, last); j++ {
			if s.events[j].before(&s.events[least]) {
				least = j
			}
		}
		if least >= last || !s.events[least].before(&e) {
			s.events[i] = e
			break
		}
		s.events[i] = s.events[least]
		i = least
	}
	return first
}

// fifo is a queue.
type fifo[T any] struct {
	items []T
	taken int
}

func (q *fifo[T]) add(x T)     { q.items = append(q.items, x) }
func (q *fifo[T]) length() int { return len(q.items) - q.taken }
func (q *fifo[T]) first() *T   { return &q.items[q.taken] }
func (q *fifo[T]) clear()      { q.cut(0) }

// cut leaves the first n items.
func (q *fifo[T]) cut(n int) {
	clear(q.items[q.taken+n:])
	q.items = q.items[:q.taken+n]
}

func (q *fifo[T]) take() T {
	var none T
	x := q.items[q.taken]
	q.items[q.taken] = none
	if q.taken++; q.taken == len(q.items) {
		q.items, q.taken = q.items[:0], 0
	}
	return x
}

// actor is something that can be stopped and continued: a host, an agent, or a process of the job.
// What comes meanwhile waits.
type actor struct {
	until proto.Time // stopped until then
	held  []func()
}

// stopped says whether the actor is stopped.
func (a *actor) stopped(now proto.Time) bool { return now < a.until }

// hold keeps f until the actor goes on.
func (a *actor) hold(f func()) { a.held = append(a.held, f) }

// goOn calls what has waited, if the time for it has come.
func (a *actor) goOn(now proto.Time) {
	if a.stopped(now) {
		return // it was stopped again, for longer
	}
	held := a.held
	a.held = nil
	for _, f := range held {
		f()
	}
}
