package rma

import (
	"errors"
	"fmt"

	"banyan/internal/varint"
)

// A window's counts belong to the state that one replica gives to another, or that a snapshot
// keeps. Its memory doesn't: of that a replacement has what the program registers.

// ErrState says that the bytes aren't the state of this window at another replica.
var ErrState = errors.New("not the state of such a window")

// errBusy is why a state can't be given now.
var errBusy = errors.New("a window in an epoch that isn't over")

// title names the window among the parts of a process.
func (w *Window) title() string { return fmt.Sprintf("a window of %s", w.comm.Title()) }

// Busy is an error if this rank is in an epoch in which something is, or may be, under way.
func (w *Window) Busy() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &w.epoch
	if e.passive() || e.start || e.post || e.fence && w.native.Used() {
		return errBusy
	}
	return nil
}

// AppendState implements engine.Part.
func (w *Window) AppendState(b []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	fence := uint64(0)
	if w.epoch.fence {
		fence = 1
	}
	return varint.Append(b, uint64(w.number), fence)
}

// Restore implements engine.Part.
func (w *Window) Restore(b []byte) error {
	r := varint.Read(b)
	number, fence := r.Uint(), r.Uint()
	if !r.Done() || number > 1<<30 || fence > 1 {
		return ErrState
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number, w.epoch.fence = int32(number), fence == 1
	w.native.Unuse()
	w.tellEpoch()
	return nil
}
