package rma

import (
	"errors"
	"fmt"

	"banyan/internal/runtime/lane"
	"banyan/internal/varint"
)

// A window's counts belong to the state that one replica gives to another, or that a snapshot
// keeps. Its memory doesn't: of that a replacement has what the program registers. In leader order
// the public copy does, as the program has left it at its last synchronisation.

// ErrState says that the bytes aren't the state of this window at another replica.
var ErrState = errors.New("not the state of such a window")

// errBusy is why a state can't be given now.
var errBusy = errors.New("a window in an epoch that isn't over")

// title names the window among the parts of a process.
func (w *Window) title() string { return fmt.Sprintf("a window of %s", w.comm.Title()) }

// Busy is an error if this rank is in an epoch in which something is, or may be, under way.
func (w *Window) Busy() error {
	if w.native.Passive() || w.started() || w.native.Exposed() || w.native.Mode() == lane.Fenced && w.native.Used() {
		return errBusy
	}
	return nil
}

// AppendState implements engine.Part.
func (w *Window) AppendState(b []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	fence := uint64(0)
	if w.native.Mode() == lane.Fenced {
		fence = 1
	}
	b = varint.Append(b, uint64(w.number), fence)
	if w.led { // nobody has changed it since the program's last step
		b = append(b, w.public.data...)
	}
	return b
}

// Restore implements engine.Part.
func (w *Window) Restore(b []byte) error {
	r := varint.Read(b)
	number, fence := r.Uint(), r.Uint()
	var public []byte
	if w.led {
		public = r.Rest()
	}
	if !r.Done() || number > 1<<30 || fence > 1 || w.led && len(public) != len(w.public.data) {
		return ErrState
	}
	if w.led {
		copy(w.public.data, public)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number = int32(number)
	if w.native.SetMode(lane.NoEpoch); fence == 1 {
		w.native.SetMode(lane.Fenced)
	}
	w.native.Unuse()
	return nil
}
