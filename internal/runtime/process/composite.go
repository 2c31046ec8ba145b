package process

import "banyan/internal/proto/causal"

// A composite is an operation made of others, as a collective is. It ends when its driver says
// so. Deaths and closed contexts end its parts, and the driver learns from these. They never end
// the composite itself: memory that the parts use isn't the program's again before all parts
// have ended.
//
// In replicated jobs a composite has a clock of its own (causal.Clock.Fork). What is sent and
// taken between Resume and Suspend is part of it.
type composites struct {
	current *causal.Clock // that of the resumed composite, or nil
	free    []*causal.Clock
}

// Open makes the request of a composite.
func (p *Process) Open() Handle {
	h, r := p.newRequest(composite)
	if p.clock == nil {
		return h
	}
	if n := len(p.composites.free); n > 0 {
		r.fork = p.composites.free[n-1]
		p.composites.free = p.composites.free[:n-1]
	} else {
		r.fork = causal.New(p.rank, p.cfg.Layout.Ranks())
	}
	p.clock.Fork(r.fork)
	p.deliverEarly() // the clock has moved on
	return h
}

// Resume says that what follows is part of a composite.
func (p *Process) Resume(h Handle) {
	if p.clock != nil {
		p.composites.current = p.requests.get(h).fork
	}
}

// Suspend says that what follows is the program's own again.
func (p *Process) Suspend() { p.composites.current = nil }

// End ends a composite.
func (p *Process) End(h Handle, err error) {
	if r := p.requests.get(h); r != nil {
		p.complete(h, r, err)
	}
}

// activeClock is the clock of what is done now.
func (p *Process) activeClock() *causal.Clock {
	if c := p.composites.current; c != nil {
		return c
	}
	return p.clock
}

// join tells the program's clock of a composite when the program learns of its end.
func (p *Process) join(fork *causal.Clock) {
	p.clock.Join(fork)
	p.composites.free = append(p.composites.free, fork)
}
