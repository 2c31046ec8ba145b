package binding

import (
	"runtime"
	"time"

	"banyan/internal/runtime/engine"
)

// The requests of a list may be of several engines: of the job, and of connections to other
// processes. Mostly they are of one, and a call waits in it. Else it looks at each in turn, and
// rests in between: the engines' progress threads do what there is to do meanwhile.

// look tells of each request that there is whether it is over, without making progress.
func (l *list) look(tell func(i int, over bool)) {
	if !l.mixed {
		l.engine.TestUntil(func(done func(engine.Handle) bool) bool {
			for i, r := range l.all {
				if r != nil {
					tell(i, r.over(done))
				}
			}
			return true
		})
		return
	}
	for i, r := range l.all {
		if r == nil {
			continue
		}
		over := r.state != active
		if !over {
			r.engine().TestUntil(func(done func(engine.Handle) bool) bool {
				over = r.over(done)
				return true
			})
		}
		tell(i, over)
	}
}

// each makes progress in every engine, and stops at the first request for which stop returns true.
// It returns its index, or -1.
func (l *list) each(stop func(r *request, over bool) bool) int {
	for i, r := range l.all {
		if r != nil && stop(r, r.state != active || r.engine().TestUntil(r.over)) {
			return i
		}
	}
	return -1
}

// firstOver makes progress and returns the index of the first request that is over, or -1.
func (l *list) firstOver() int {
	if l.mixed {
		return l.each(func(_ *request, over bool) bool { return over })
	}
	i := -1
	l.engine.TestUntil(func(done func(engine.Handle) bool) bool {
		i = l.first(done)
		return i >= 0
	})
	return i
}

// awaitFirst waits for that. It is -1 only if the engine was closed.
func (l *list) awaitFirst() int {
	i := -1
	if l.mixed {
		rest(func() bool { i = l.firstOver(); return i >= 0 })
		return i
	}
	l.engine.WaitUntil(func(done func(engine.Handle) bool) bool {
		i = l.first(done)
		return i >= 0
	})
	return i
}

// awaitActive waits until a request is over whose outcome hasn't been taken. It is false only if
// the engine was closed.
func (l *list) awaitActive() (met bool) {
	if l.mixed {
		rest(func() bool {
			return l.each(func(r *request, over bool) bool { return r.state == active && over }) >= 0
		})
		return true
	}
	l.engine.WaitUntil(func(done func(engine.Handle) bool) bool {
		met = l.anyActive(done)
		return met
	})
	return met
}

// allOver makes progress and tells whether all requests are over.
func (l *list) allOver() bool {
	if l.mixed {
		return l.each(func(_ *request, over bool) bool { return !over }) < 0
	}
	return l.engine.TestUntil(l.every)
}

// disturbed tells whether requests may fail because of a failure.
func (l *list) disturbed() bool {
	if !l.mixed {
		return l.engine.Disturbed()
	}
	for _, r := range l.all {
		if r != nil && r.state == active && r.engine().Disturbed() {
			return true
		}
	}
	return false
}

const (
	// looksAwake is how often a wait for several engines looks before it rests.
	looksAwake = 100
	// longestRest bounds a rest.
	longestRest = time.Millisecond
)

// rest looks until met.
func rest(met func() bool) {
	pause := 10 * time.Microsecond
	for looks := 0; !met(); looks++ {
		if looks < looksAwake {
			runtime.Gosched()
			continue
		}
		time.Sleep(pause)
		pause = min(2*pause, longestRest)
	}
}
