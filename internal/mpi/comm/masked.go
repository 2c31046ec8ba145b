package comm

import (
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Jobs that hide deaths from the program, by replicas or by going back to a snapshot, never lose a
// rank that the program could go on without. There an agreement is an ordinary reduction of flags,
// which replicas carry out alike and snapshots cover, and a shrink is a barrier and a duplicate.
// So a program that handles failures runs unchanged in such jobs, where none comes.

// masked is what an agreement in the background comes to in a job that hides deaths.
type masked struct {
	flags   [4]byte
	context uint64 // of the communicator that it makes
	err     error  // it didn't start
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
	var plan *Plan
	if kind == process.AgreeFlags {
		binary.LittleEndian.PutUint32(m.flags[:], flags)
		plan = c.Allreduce(m.flags[:], m.flags[:], bothFlags)
	} else {
		m.context = c.child(shrinkBranch)
		plan = c.Barrier()
	}
	o, err := plan.Start()
	a.handle, m.err = o.handle, err
	return a
}

// end is the error of an agreement that has ended with an error of the engine, or nil. It fills the
// outcome.
func (a Agreement) end(err error) error {
	if m := a.masked; m != nil {
		a.outcome.Flags = binary.LittleEndian.Uint32(m.flags[:])
		if m.err != nil {
			return m.err
		}
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
	if a.masked != nil {
		return a.masked.context
	}
	return derived(a.comm.context, branch, a.outcome)
}

// live are the members without those that have failed.
func (a Agreement) live() []proto.Rank {
	return slices.DeleteFunc(slices.Clone(a.comm.group), func(r proto.Rank) bool { return slices.Contains(a.outcome.Failed, r) })
}
