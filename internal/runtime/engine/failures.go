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
	e.tell(func(p *process.Process) { p.NoteFailed(context, rank) })
}
