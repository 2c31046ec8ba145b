package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/passive"
)

// What other ranks ask of this rank's part of a window, in leader order: package passive has the
// order of it, by the context of the window's messages. It is beside the logs of the program's
// threads, since it is done also while the program computes.
//
// The program's own steps are in the prefix of the log (prefix.go), as its answers are. What others
// ask up to the first safe point isn't: a rank that has been asked before isn't healed, and a
// rollback doesn't repeat what was decided.

// errPassive is why a rank's replicas can't begin again.
var errPassive = errors.New("before its first safe point others have locked or accessed its part of a window, other than by MPI_Win_fence")

// steps is the order of a context.
func (o *ordered) steps(context uint64) *passive.Machine {
	m := o.passive[context]
	if m == nil {
		m = &passive.Machine{}
		o.passive[context] = m
	}
	return m
}

// BeginPassive says that what other ranks ask of this one is ordered from now on. The program
// calls it, at the same place in all replicas.
func (p *Process) BeginPassive() {
	if o := p.order; o != nil && !o.begun {
		p.beginDecisions("makes a window that others may lock")
	}
}

// TakePassive is TakeArrived for messages that are carried out in the order that the leader
// decides.
func (p *Process) TakePassive(context uint64, tag int32) (Handle, Status, bool) {
	o := p.order
	if o == nil {
		return p.TakeArrived(context, tag)
	}
	e := match.Envelope{Context: context, Src: proto.AnyRank, Tag: tag}
	if next, known := o.steps(context).Next(); known {
		if e.Src = next.Source; next.Own {
			return Handle{}, Status{}, false
		}
	} else if !o.m.Leads() {
		return Handle{}, Status{}, false
	}
	token, ok := p.match.Take(e)
	if !ok {
		return Handle{}, Status{}, false
	}
	ah, a := p.receives.arrivals.at(token)
	a.taken = true
	p.passiveStep(context, passive.Step{Source: a.envelope.Src})
	return ah, a.status(), true
}

// MayStep tells whether the program's own step is next on a context. The error is an OrderError: it
// never will be.
func (p *Process) MayStep(context uint64) (bool, error) {
	o := p.order
	if o == nil {
		return true, nil
	}
	m := o.steps(context)
	if m.Empty() && p.healing.replay != nil {
		p.failReplay(fmt.Errorf("%w: it synchronises a window, which they didn't", ErrReplay))
		return false, nil
	}
	if m.May(passive.Step{Own: true}, o.m.Leads()) {
		return true, nil
	}
	if o.through && m.Empty() {
		return false, p.orderError("synchronises a window, where the one that it follows has come to its end")
	}
	return false, nil
}

// OwnStep does the program's own step, which it MayStep.
func (p *Process) OwnStep(context uint64) {
	if p.order != nil {
		p.passiveStep(context, passive.Step{Own: true})
	}
}

// EndPassive forgets the order of a context.
func (p *Process) EndPassive(context uint64) {
	if p.order != nil {
		delete(p.order.passive, context)
	}
}

// passiveStep does a step, and decides it if nobody has.
func (p *Process) passiveStep(context uint64, s passive.Step) {
	o := p.order
	if !s.Own {
		o.prefix.passive = o.prefix.passive || !o.prefix.ended
	} else if d := p.notes(o.at); d != nil {
		d.step(context, s, 1)
	}
	if o.steps(context).Do(s) {
		o.made.step(context, s, 1)
		p.tellSoon(false)
	}
}

// Steps are coded by their source and 1; 0 is the program's own.
func stepCode(s passive.Step) uint64 {
	if s.Own {
		return 0
	}
	return uint64(uint32(s.Source)) + 1
}

func stepOf(code uint64) passive.Step {
	if code == 0 {
		return passive.Step{Own: true}
	}
	return passive.Step{Source: proto.Rank(int32(uint32(code - 1)))}
}
