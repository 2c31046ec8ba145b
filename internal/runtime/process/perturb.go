package process

import (
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// Perturbed timing shows a program messages, and the ends of requests, in orders that are
// possible but rare. "banyan check" finds out whether what the program sends depends on them.
// Messages that have arrived are held back for a while, those of one source in their order. The
// program learns of the ends of some requests late. All this is as if the network were slower,
// so no correct program breaks.
//
// The messages of which collectives are made are left alone: programs can't see their order.
type perturbation struct {
	rng     *rand.Rand
	longest proto.Time
	one     int // one of so many messages is delayed
	late    []early
	hidden  []proto.Time // when ends of requests may be shown
}

// newPerturbation draws how long and how frequent the delays are: which delays matter differs
// from program to program. It is nil for seed 0.
func newPerturbation(seed uint64) *perturbation {
	if seed == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	longest := []proto.Time{50e3, 300e3, 1e6, 3e6}
	return &perturbation{rng: rng, longest: longest[rng.IntN(len(longest))], one: 1 + rng.IntN(6)}
}

// delay draws for how long something is held back. Mostly that is 0.
func (d *perturbation) delay() proto.Time {
	if d.rng.IntN(d.one) > 0 {
		return 0
	}
	return 1 + proto.Time(d.rng.Int64N(int64(d.longest)))
}

// deadline is when the next delay ends.
func (d *perturbation) deadline() proto.Time {
	next := proto.Never
	for i := range d.late {
		next = min(next, d.late[i].until)
	}
	for _, t := range d.hidden {
		next = min(next, t)
	}
	return next
}

// delayed holds a message back, or tells that it doesn't.
func (p *Process) delayed(from proto.Proc, h *wire.Header, f *payload) bool {
	if c := p.contexts.find(h.Context); c != nil && c.collective {
		return false
	}
	until := p.now
	if d := p.perturb.delay(); d > 0 {
		until += d
	}
	for i := range p.perturb.late {
		if l := &p.perturb.late[i]; l.header.Src == h.Src {
			until = max(until, l.until+1)
		}
	}
	if until <= p.now {
		return false
	}
	p.perturb.late = append(p.perturb.late, early{from, *h, f.keep(&p.buffers, len(f.bytes)), until})
	return true
}

// hide keeps the end of a request from the program for a while.
func (p *Process) hide(r *request) {
	if c := p.contexts.find(r.context); c != nil && c.collective {
		return
	}
	if d := p.perturb.delay(); d > 0 {
		r.shown = p.now + d
		p.perturb.hidden = append(p.perturb.hidden, r.shown)
	}
}

// releaseLate ends the delays that are over. Those of one source end in their order.
func (p *Process) releaseLate() {
	d := p.perturb
	hidden := d.hidden[:0]
	for _, t := range d.hidden {
		if t > p.now {
			hidden = append(hidden, t)
		}
	}
	if len(hidden) < len(d.hidden) {
		p.Changes++
	}
	d.hidden = hidden
	for i := 0; i < len(d.late); {
		m := d.late[i]
		if m.until > p.now {
			i++
			continue
		}
		d.late = append(d.late[:i], d.late[i+1:]...)
		f := payload{m.payload, ownedByFrame}
		if p.clock == nil || !p.postponed(m.from, &m.header, &f) {
			p.deliver(m.from, &m.header, &f)
		}
		f.release(&p.buffers)
	}
}
