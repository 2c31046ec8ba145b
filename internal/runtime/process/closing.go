package process

import (
	"math"

	"banyan/internal/runtime/wire"
)

// A member that has closed a context has completed all its broadcasts. Another one that a death
// has cut off from the tree may still ask it for them. So it keeps the context's stream, which
// answers, until all live members have closed the context, too. Each tells the others so by the
// report that it has completed every number there will ever be.

// everyNumber in a report says that its sender has closed the context.
const everyNumber = math.MaxUint64

// CloseContext forgets a context and what arrived in it. Receives and broadcasts that are under
// way in it end with ErrFreed.
func (p *Process) CloseContext(id uint64) {
	c := p.contexts.find(id)
	if c == nil || c.closed {
		return
	}
	c.closed, c.shut = true, true
	p.requests.each(func(h Handle, r *request) {
		if r.context == id && r.kind != sending {
			p.fail(h, r, ErrFreed)
		}
	})
	p.dropContext(id)
	if id == c.family {
		p.closeTolerance(id)
	}
	if c.begun { // by all members, or by none
		p.announceClosed(c)
		p.forgetClosed()
		return
	}
	p.contexts.remove(c)
	p.contexts.deactivate(c)
}

// dropContext drops the messages that have arrived in a context.
func (p *Process) dropContext(id uint64) {
	p.match.DropContext(id, func(token uint32) {
		ah, a := p.receives.arrivals.at(token)
		if a.offered {
			p.refuse(a)
			return
		}
		p.dropArrival(ah, a)
	})
}

// contextError is why the program may not use a context, or nil.
func (p *Process) contextError(id uint64) error {
	c := p.contexts.find(id)
	switch {
	case p.lifecycle.fenced:
		return ErrFenced
	case p.lifecycle.closed:
		return ErrClosed
	case c == nil || c.closed:
		return ErrFreed
	case c.revoked:
		return ErrRevoked
	}
	return nil
}

// announceClosed tells the other members that this one has closed a context.
func (p *Process) announceClosed(c *context) {
	for i, m := range c.members {
		if q := p.cfg.Layout.Proc(m, 0); i != c.self && p.liveness.detector.Alive(q) && p.peers[q].state != peerLeft {
			f := wire.Broadcast{Kind: wire.KindBroadcastReport, Context: c.id, Number: everyNumber, From: c.self, To: i, Root: i}
			f.Put(&p.header)
			p.send(q, &p.header, nil, 0)
		}
	}
}

// memberClosed notes that another member has closed a context.
func (p *Process) memberClosed(c *context, member int) {
	if c.closers == nil {
		c.closers = make([]bool, len(c.members))
	}
	c.closers[member] = true
	p.forgetClosed()
}

// forgetClosed forgets the contexts that all live members have closed.
func (p *Process) forgetClosed() {
	p.contexts.forget(func(c *context) bool { return c.closed && !p.awaited(c) })
}

// awaited tells whether a live member has yet to close a context.
func (p *Process) awaited(c *context) bool {
	for i, m := range c.members {
		q := p.cfg.Layout.Proc(m, 0)
		if i != c.self && (c.closers == nil || !c.closers[i]) && p.liveness.detector.Alive(q) && p.peers[q].state != peerLeft {
			return true
		}
	}
	return false
}
