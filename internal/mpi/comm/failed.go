package comm

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// What a program uses that handles failures itself (ULFM). In jobs that hide deaths from the
// program agreements are ordinary collectives (masked.go).

// Failed are the members that have failed, as far as this process knows, as ranks of the world, in
// the order in which it learnt of them. The list only grows, and has each rank that an error of an
// operation of this communicator has named.
func (c *Comm) Failed() []proto.Rank { return c.eng.Failed(c.context) }

// AckFailed acknowledges the first n of Failed, and returns how many of them are acknowledged.
// Receives from any source wait for messages as long as all known failures are acknowledged.
func (c *Comm) AckFailed(n int) int { return c.eng.AckFailed(c.context, n) }

// Learn notes the failed rank that an error names: one that another member has told this one.
func (c *Comm) Learn(err error) { c.learn(err) }

// learn notes the failed rank that an error names.
func (c *Comm) learn(err error) {
	if lost := (*process.LostError)(nil); errors.As(err, &lost) {
		c.eng.NoteFailed(c.context, lost.Rank)
	}
}

// Revoke ends all operations of the communicator with process.ErrRevoked, those under way and later
// ones: here at once, and at all other members in time, though this one may die. Only Agree,
// Shrink, Free and what is local goes on. Not all members need call it.
func (c *Comm) Revoke() error { return c.wrap("Revoke", c.eng.Revoke(c.context)) }

// Revoked tells whether the communicator is revoked here.
func (c *Comm) Revoked() bool { return c.eng.Revoked(c.context) }

// Usable is why operations of the communicator can't succeed, or nil. It costs next to nothing
// where nothing has failed.
func (c *Comm) Usable() error {
	if !c.eng.Disturbed() {
		return nil
	}
	return c.eng.ContextError(c.context)
}

// SetStrict has agreements and shrinks of the communicator return only when all live members have
// the outcome, or as soon as this one has it. All members call it, between the same agreements.
func (c *Comm) SetStrict(on bool) { c.strict = on }

// Agreement is an agreement that was started.
type Agreement struct {
	comm    *Comm
	op      string
	handle  engine.Handle
	outcome *process.Agreement
	masked  *masked // nil in a job that doesn't hide deaths
	flagsOf *Inter  // the flags are those of the other group; nil: those of all
}

// Agree agrees on the bitwise AND of the flags of all members that live long enough to give theirs.
// Each live member gets the same flags, and the same error: process.ErrRankLost if a member hasn't
// given its flags and a member that has didn't acknowledge its failure before. Then Failed has all
// such members everywhere.
func (c *Comm) Agree(flags uint32) (uint32, error) {
	return c.agreeNow("Agree", flags)
}

// Iagree starts an Agree.
func (c *Comm) Iagree(flags uint32) Agreement { return c.agree("Agree", process.AgreeFlags, flags) }

func (c *Comm) agree(op string, kind process.AgreementKind, flags uint32) Agreement {
	if c.eng.Masks() {
		return c.agreeMasked(op, kind, flags)
	}
	h, outcome := c.eng.Agree(c.context, kind, flags, c.strict)
	return Agreement{comm: c, op: op, handle: h, outcome: outcome}
}

// Handle is the engine's handle of the operation.
func (a Agreement) Handle() engine.Handle { return a.handle }

// Flags is the outcome of Iagree. err is the engine's error of the operation, which has ended.
func (a Agreement) Flags(err error) (uint32, error) {
	err = a.end(err)
	if a.flagsOf != nil {
		return a.flagsOf.remoteFlags(a.outcome), a.comm.wrap(a.op, err)
	}
	return a.outcome.Flags, a.comm.wrap(a.op, err)
}

// AgreeFailed agrees on who has failed, as ranks of the world. It acknowledges them.
func (c *Comm) AgreeFailed() ([]proto.Rank, error) {
	a := c.agree("AgreeFailed", process.AgreeFailed, 0)
	if err := a.wait(); err != nil {
		return nil, c.wrap(a.op, err)
	}
	return a.outcome.Failed, nil
}

// Shrink makes a communicator of the members that live, in their order. All that live call it, and
// all that return are members. No member is one whose failure was an error before.
func (c *Comm) Shrink() (*Comm, error) {
	a := c.Ishrink()
	_, err := c.eng.Wait(a.handle)
	return a.Shrunk(err)
}

// Ishrink starts a Shrink.
func (c *Comm) Ishrink() Agreement { return c.agree("Shrink", process.AgreeShrink, 0) }

// Shrunk is the outcome of Ishrink. err is the engine's error of the operation, which has ended.
func (a Agreement) Shrunk(err error) (*Comm, error) {
	c := a.comm
	if err = a.end(err); err != nil {
		return nil, c.wrap(a.op, err)
	}
	d, err := open(c.eng, a.derived(shrinkBranch), a.live())
	return d, c.wrap(a.op, err)
}
