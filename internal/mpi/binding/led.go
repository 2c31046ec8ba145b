package binding

import "banyan/internal/runtime/engine"

// In leader order all replicas of a rank are told the same about the ends of requests
// (engine.Engine.Decide). A call asks about all of its requests, also about those that it knows to
// be over: another replica may not have come as far. Of a request that is over by what was decided,
// the end may have to be waited for.

// isOverLed is isOver.
func (p *Process) isOverLed(r *request) bool {
	e := p.job.Engine()
	if e.Decide(false, func(done func(engine.Handle) bool) uint64 { return truthOf(r.over(done)) }) == 0 {
		return false
	}
	p.conclude(r)
	return true
}

// firstLed is the index of the first request that is over, or -1. If it waits, one is over unless
// the engine is closed.
func (l *list) firstLed(e *engine.Engine, waits bool) int {
	return int(e.Decide(waits, func(done func(engine.Handle) bool) uint64 { return uint64(l.first(done) + 1) })) - 1
}

// everyLed tells whether all requests are over.
func (l *list) everyLed(e *engine.Engine) bool {
	return e.Decide(false, func(done func(engine.Handle) bool) uint64 { return truthOf(l.every(done)) }) != 0
}

// keepOverLed forgets the requests that aren't over.
func (l *list) keepOverLed(e *engine.Engine) {
	const word = 64
	for from := 0; from < len(l.all); from += word {
		some := l.all[from:min(from+word, len(l.all))]
		over := e.Decide(false, func(done func(engine.Handle) bool) (over uint64) {
			for i, r := range some {
				if r != nil && r.over(done) {
					over |= 1 << i
				}
			}
			return over
		})
		for i := range some {
			if over>>i&1 == 0 {
				some[i] = nil
			}
		}
	}
}

func truthOf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
