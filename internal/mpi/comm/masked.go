package comm

import (
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Jobs that hide deaths from the program, by replicas or by going back to a snapshot, have no
// failures. There an agreement is an ordinary reduction of flags, which replicas carry out
// alike and snapshots cover, and a shrink is a barrier and a duplicate. So a program that handles
// failures runs unchanged in such jobs. One with replicas may lose a rank all the same. From then
// on agreements are made as in all other jobs (process.MaskedAgreement).

// masked is what an agreement in the background comes to in a job that hides deaths.
type masked struct {
	flags   [8]byte // of both groups of an intercommunicator
	context uint64  // of the communicator that it makes
	err     error   // it didn't start
}

var bothFlags = Op{Combiner: Func(func(left, right []byte) {
	for i := range left {
		left[i] &= right[i]
	}
}), Size: 4}

// agreeMasked is agree in a job that hides deaths.
func (c *Comm) agreeMasked(op string, kind process.AgreementKind, flags uint32) Agreement {
	m := &masked{}
	a := Agreement{comm: c, op: op, outcome: &process.Agreement{Kind: kind}, masked: m}
	a.outcome.Flags = flags
	if kind == process.AgreeFlags || kind == process.AgreeRetry {
		binary.LittleEndian.PutUint32(m.flags[:], flags)
		a.startMasked(nil, nil, m.flags[:4], func() *Plan { return c.Allreduce(m.flags[:4], m.flags[:4], bothFlags) })
	} else {
		m.context = c.child(shrinkBranch)
		a.startMasked(nil, nil, nil, c.Barrier)
	}
	return a
}

// agreeMaskedOn is agreeOn in a job that hides deaths.
func (c *Comm) agreeMaskedOn(op string, s small, combine func(into, from []byte)) Agreement {
	a := Agreement{comm: c, op: op, outcome: &process.Agreement{Kind: process.AgreeBarrier, Flags: ^uint32(0)}, masked: &masked{}}
	if len(s.send) == 0 {
		a.startMasked(nil, nil, nil, c.Barrier)
		return a
	}
	a.outcome.Kind = process.AgreeData
	data, result := slices.Clone(s.send), make([]byte, len(s.send)) // it may go on when the call has ended
	a.startMasked(data, combine, result, func() *Plan { return c.Allreduce(data, result, s.op) })
	return a
}

// startMasked starts an agreement, of flags with data if there is any. The collective that it is
// leaves its outcome in result.
func (a *Agreement) startMasked(data []byte, combine func(into, from []byte), result []byte, collective func() *Plan) {
	c, m := a.comm, a.masked
	prepare := func() (collective bool) {
		a.handle, collective = c.eng.Masked(c.context, a.outcome, data, combine, c.strict, result)
		return collective
	}
	plan := collective()
	if !prepare() {
		plan.skip() // a member at which the loss hasn't shown yet starts it
		return
	}
	plan.s.Agreement = a.outcome
	o, err := plan.Start()
	switch {
	case err == nil:
		a.handle = o.handle
	case prepare(): // else a loss has shown since, and the agreement is made without it
		m.err = err
	}
}

// end is the error of an agreement that has ended with an error of the engine, or nil. It fills the
// outcome.
func (a Agreement) end(err error) error {
	if m := a.masked; m != nil && m.err != nil {
		return m.err
	}
	return err
}

// wait is end for a caller that waits.
func (a Agreement) wait() error {
	_, err := a.comm.eng.Wait(a.handle)
	return a.end(err)
}

// derived is the context of the communicator that an agreement makes.
func (a Agreement) derived(branch uint64) uint64 {
	if a.masked != nil && a.outcome.Masked() {
		return a.masked.context
	}
	return derived(a.comm.context, branch, a.outcome)
}

// live are the members without those that have failed.
func (a Agreement) live() []proto.Rank {
	return slices.DeleteFunc(slices.Clone(a.comm.group), func(r proto.Rank) bool { return slices.Contains(a.outcome.Failed, r) })
}
