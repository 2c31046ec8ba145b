package engine

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Failed are the failed members of a context that this process knows of; see
// process.Process.Failed.
func (e *Engine) Failed(context uint64) []proto.Rank {
	e.lock()
	defer e.mu.Unlock()
	return slices.Clone(e.p.Failed(context))
}

// AckFailed acknowledges the first n failures of a context, and returns how many are acknowledged.
func (e *Engine) AckFailed(context uint64, n int) int {
	e.lock()
	defer e.mu.Unlock()
	return e.p.AckFailed(context, n)
}

// NoteFailed adds a failure that an error has named.
func (e *Engine) NoteFailed(context uint64, rank proto.Rank) {
	e.disturbed.Store(true)
	e.tell(func(p *process.Process) { p.NoteFailed(context, rank) })
}

// OpenBranch makes a further context of a communicator known; see process.Process.OpenBranch.
func (e *Engine) OpenBranch(family, id uint64, members []proto.Rank, collective bool) error {
	e.lock()
	defer e.mu.Unlock()
	return e.p.OpenBranch(family, id, members, collective)
}

// Masks tells whether the job hides deaths from the program, by replicas or by going back to a
// snapshot: no rank is lost that the program could go on without.
func (e *Engine) Masks() bool {
	return e.cfg.Process.Layout.Replicated() || e.cfg.Process.Marker != nil
}

// LosesRanks tells whether the program may go on without a rank that is lost: no deaths are hidden,
// or the launcher leads a job with replicas on that has lost one.
func (e *Engine) LosesRanks() bool { return !e.Masks() || e.cfg.Process.Thins }

// SpareRanks is how many of the last ranks wait to take the place of dead ones.
func (e *Engine) SpareRanks() int { return e.cfg.SpareRanks }

// AgreeOn enters a communicator's next agreement, on what the data of its members comes to; see
// process.Process.AgreeOn.
func (e *Engine) AgreeOn(context uint64, data []byte, combine func(into, from []byte), strict bool) (Handle, *process.Agreement) {
	e.lock()
	defer e.mu.Unlock()
	return e.p.AgreeOn(context, data, combine, strict)
}

// AgreeWith is Agree of flags that carries data; see process.Process.AgreeWith.
func (e *Engine) AgreeWith(context uint64, flags uint32, data []byte, combine func(into, from []byte), strict bool) (Handle, *process.Agreement) {
	e.lock()
	defer e.mu.Unlock()
	return e.p.AgreeWith(context, flags, data, combine, strict)
}

// ContextError is why the program may not use a context, or nil.
func (e *Engine) ContextError(context uint64) error {
	e.lock()
	defer e.mu.Unlock()
	return e.p.ContextError(context)
}

// Revoke revokes a communicator; see process.Process.Revoke.
func (e *Engine) Revoke(context uint64) (err error) {
	e.tell(func(p *process.Process) { err = p.Revoke(context) })
	return err
}

// Revoked tells whether a communicator is revoked here.
func (e *Engine) Revoked(context uint64) bool {
	if !e.Disturbed() {
		return false
	}
	e.lock()
	defer e.mu.Unlock()
	return e.p.Revoked(context)
}

// Agree enters a communicator's next agreement. Its outcome is there when the operation has ended.
func (e *Engine) Agree(context uint64, kind process.AgreementKind, flags uint32, strict bool) (Handle, *process.Agreement) {
	e.lock()
	defer e.mu.Unlock()
	return e.p.Agree(context, kind, flags, strict)
}
