package comm

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/process"
)

// Resilient collectives survive the death of members: Barrier, Reduce and Allreduce, for which the
// program waits. All live members get the same result, of the same contributors. All get the same
// error with it, or none: process.ErrRankLost if a member that is missing has died and one that has
// contributed didn't acknowledge that before.
//
// Small ones are agreements with data: up to resilientMost bytes, with operations of the library.
// Others are tries (package retry): an ordinary collective in a context of its own, and an
// agreement on whether it has succeeded everywhere.
//
// In jobs that hide deaths they are ordinary collectives. If such a job may lose a rank and go on
// (process.Config.Thins) these are agreements all the same, as masked.go has them: who hasn't come
// to the end of one when a loss shows gets the result of those that have, or all agree anew.
//
// They heed revocations as little as agreements do: else some members might enter one and others
// not, and the next agreement would be another one for each.

// resilientMost is the largest data of an agreement, in bytes: each frame of it is one message
// that is sent at once.
const resilientMost = 4096

// errElsewhere is what others get of a try that has failed at a member without a death.
var errElsewhere = errors.New("the collective has failed at another rank")

// resilience is what a communicator knows of its resilient collectives.
type resilience struct {
	on      bool
	missing []proto.Rank // in the result of the last one
	machine process.Tries
	context uint64 // of the present tries
	among   *Comm  // those that are present; nil: not opened yet
}

// SetResilient has Barrier, Reduce and Allreduce survive the failure of members, at a higher price.
// All members call it, between the same collectives.
func (c *Comm) SetResilient(on bool) {
	on = on && c.eng.LosesRanks() // else all collectives survive anyway
	c.resilience.on = on
	if on {
		c.closeCommons() // C would use it
		c.sharing.may = false
	}
}

// Missing are the members whose contributions aren't in the result of the last resilient
// collective, as ranks of the world. All that live have the same.
func (c *Comm) Missing() []proto.Rank { return c.resilience.missing }

// survive makes a plan resilient.
func (p *Plan) survive(s small) { p.resilient, p.small = true, s }

// runResilient carries a resilient collective out.
func (p *Plan) runResilient() error {
	c, op, s := p.comm, p.op, p.small
	p.release()
	c.resilience.missing = nil
	if len(s.send) > resilientMost || s.op.Foreign {
		return c.wrap(op, c.retried(op, s))
	}
	a := c.agreeOn(op, s)
	err, outcome := a.wait(), a.outcome
	if lost := (*process.LostError)(nil); err == nil || errors.As(err, &lost) {
		c.resilience.missing = outcome.Missing
		if s.takes(c.rank) {
			copy(s.recv, outcome.Data)
		}
		if err == nil {
			err = c.rootLost(s, outcome)
		}
	}
	return c.wrap(op, err)
}

// agreeOn agrees on what the members' data comes to.
func (c *Comm) agreeOn(op string, s small) Agreement {
	var combine func(into, from []byte)
	if s.op.Combiner != nil {
		combine = s.op.Combine
	}
	if c.eng.Masks() {
		return c.agreeMaskedOn(op, s, combine)
	}
	a := Agreement{comm: c, op: op}
	a.handle, a.outcome = c.eng.AgreeOn(c.context, s.send, combine, c.strict)
	return a
}

// takes tells whether a member takes the result of a reduction.
func (s *small) takes(rank int) bool {
	return s.kind == commons.Allreduce || s.kind == commons.Reduce && s.root == rank
}

// rootLost is the error of a Reduce whose root has died, the same at all members.
func (c *Comm) rootLost(s small, outcome *process.Agreement) error {
	if s.kind == commons.Reduce && slices.Contains(outcome.Failed, c.group[s.root]) {
		return &process.LostError{Rank: c.group[s.root]}
	}
	return nil
}

// retried carries a reduction out by tries.
func (c *Comm) retried(op string, s small) error {
	r := &c.resilience
	if r.context == 0 {
		r.machine = process.NewTries(c.group)
		r.context = branchOf(c.context, retryBranch) &^ collectivePart
	}
	if len(s.send) > 0 && len(s.recv) > 0 && &s.send[0] == &s.recv[0] {
		s.send = slices.Clone(s.send) // another try needs it
	}
	for {
		if s.kind == commons.Reduce && !slices.Contains(r.machine.Present(), c.group[s.root]) {
			return &process.LostError{Rank: c.group[s.root]}
		}
		failure := c.tryOnce(s)
		c.learn(failure)
		if failure != nil && r.among != nil {
			r.among.Revoke()
		}
		a := c.agree(op, process.AgreeRetry, r.machine.Flags(failure))
		if err := a.wait(); err != nil {
			return err
		}
		outcome := a.outcome
		since := r.machine.Since()
		v := r.machine.Agreed(outcome)
		if r.machine.Since() != since {
			c.closeTries()
			r.context = derived(c.context, retryBranch, outcome)
		}
		switch {
		case v.Again:
			continue
		case v.Broken && failure == nil:
			return fmt.Errorf("%s: %w", op, errElsewhere)
		case v.Broken:
			return failure
		}
		r.missing = v.Missing
		if v.Unacknowledged != proto.AnyRank {
			return &process.LostError{Rank: v.Unacknowledged}
		}
		return c.rootLost(s, outcome)
	}
}

// tryOnce tries a reduction among those that are present.
func (c *Comm) tryOnce(s small) error {
	r := &c.resilience
	if r.among == nil {
		among, err := open(c.eng, r.context, r.machine.Present())
		if err != nil {
			return err
		}
		r.among = among
	}
	if s.kind == commons.Reduce {
		return r.among.Reduce(s.send, s.recv, s.op, r.among.local(c.group[s.root])).Run()
	}
	return r.among.Allreduce(s.send, s.recv, s.op).Run()
}

// closeTries gives up the context of the present tries.
func (c *Comm) closeTries() {
	if c.resilience.among != nil {
		c.resilience.among.Free()
		c.resilience.among = nil
	}
}
