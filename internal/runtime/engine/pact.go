package engine

import (
	"errors"

	"banyan/internal/proto/cells"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/process"
)

// AgreeShared takes part in an agreement through common memory that is for agreements alone, and
// waits for its end. If it isn't decided there, at any member that lives, all go on by messages,
// and never use that memory again. Revocations don't matter to it.
func (e *Engine) AgreeShared(x *Shared, name string, give []byte, t Taker) (decided bool, err error) {
	e.lock()
	defer e.unlock()
	if x.Running() {
		e.until(func() bool { return !x.Running() }) // another thread, although MPI forbids that
	}
	if e.closed {
		return false, process.ErrClosed
	}
	if e.Disturbed() || e.p.Forlorn() || !e.p.Undisturbed(x.Context) {
		if err = e.tellPact(x); err != nil {
			return false, err
		}
	}
	x.Begin(commons.Call{Pattern: commons.Agree, Kind: commons.Agreement, Size: len(give), Give: give})
	if e.spinShared(x, t) != commons.Ended {
		err = e.waitShared(sharedCall{name, x}, t)
	}
	outcome, culprit, _ := x.End()
	e.rouse()
	switch {
	case err != nil:
		return false, err
	case outcome == cells.Done:
		return true, nil
	case outcome == cells.Undecided:
		return false, nil
	case outcome == cells.Mismatch:
		return false, &process.SizeError{Source: x.Members[culprit], Err: process.ErrMismatch}
	}
	return false, process.ErrFenced
}

// tellPact tells the memory of agreements whose death is final and who is through: nothing comes of
// them there. It is an error if this process
// can't go on.
func (e *Engine) tellPact(x *Shared) error {
	for i, r := range x.Members {
		if e.p.Final(r) || e.p.Finished(r) != nil {
			x.Gone(i)
		}
	}
	if err := e.p.ContextError(x.Context); !errors.Is(err, process.ErrRevoked) {
		return err
	}
	return nil
}
