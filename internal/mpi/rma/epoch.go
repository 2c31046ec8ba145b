package rma

import "banyan/internal/runtime/lane"

// Which epochs this rank is in is known in one place, the words that C has, too (lane.Win): C
// begins and ends epochs of its own.

// started tells whether this rank is in an epoch of MPI_Win_start.
func (w *Window) started() bool { return w.native.Mode() == lane.Started }

// defers tells whether accesses are carried out by the targets' programs at the next fence.
func (w *Window) defers() bool {
	return (w.copies || w.led) && !w.started() && !w.native.Passive()
}

// held is a rank whose part this rank has locked, if there is one.
func (w *Window) held() (rank int, is bool) {
	if all, _ := w.native.AllLocked(); all {
		return 0, true
	}
	if w.native.Passive() {
		for r := range w.to {
			if w.native.LockOf(r).Held() {
				return r, true
			}
		}
	}
	return -1, false
}

// mayAccess is an error unless this rank is in an epoch that allows it to access a target.
func (w *Window) mayAccess(rank int) error {
	mode := w.native.Mode()
	switch all, _ := w.native.AllLocked(); {
	case mode == lane.Started:
		if !w.native.May(rank) {
			return wrong(ErrSync, "rank %d isn't in the group of MPI_Win_start", rank)
		}
	case all:
	case w.native.Passive():
		if !w.native.LockOf(rank).Held() {
			return wrong(ErrSync, "this rank hasn't locked rank %d's part", rank)
		}
	case mode == lane.Fenced:
		w.native.Use()
	default:
		return wrong(ErrSync, "rank %d's part is accessed outside of an epoch: no MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all has begun one", rank)
	}
	return nil
}

// unfence ends an epoch of MPI_Win_fence that nobody has used. It is an error if this rank has.
func (w *Window) unfence() error {
	if w.native.Mode() != lane.Fenced {
		return nil
	}
	if w.native.Used() {
		return wrong(ErrSync, "the epoch of MPI_Win_fence, in which this rank has accessed the window, isn't over")
	}
	w.native.SetMode(lane.NoEpoch)
	return nil
}

// beginOther ends an epoch of MPI_Win_fence that nobody has used, since another one begins. It is
// an error if there is one that excludes it. The lock mu is held.
func (w *Window) beginOther() error {
	if w.started() {
		return wrong(ErrSync, "the epoch of MPI_Win_start isn't over")
	}
	return w.unfence()
}

// Free is an error if an epoch isn't over.
func (w *Window) Free() error {
	rank, held := w.held()
	switch {
	case held:
		return wrong(ErrSync, "rank %d's part is still locked", rank)
	case w.started():
		return wrong(ErrSync, "the epoch of MPI_Win_start isn't over")
	case w.native.Exposed():
		return wrong(ErrSync, "the epoch of MPI_Win_post isn't over")
	}
	return nil
}

// Fence ends an epoch, and begins one, unless the program has promised that it is the last
// (succeeds is false). All members call it.
func (w *Window) Fence(succeeds bool) error {
	rank, held := w.held()
	switch {
	case held:
		return wrong(ErrSync, "rank %d's part is locked", rank)
	case w.started() || w.native.Exposed():
		return wrong(ErrSync, "the epoch of MPI_Win_start or MPI_Win_post isn't over")
	}
	mode := lane.NoEpoch
	if succeeds {
		mode = lane.Fenced
	}
	w.native.SetMode(mode)
	w.native.Unuse()
	order()
	var err error
	switch {
	case w.copies:
		err = w.fenceReplicas()
	case w.led:
		err = w.fenceLed()
	default:
		err = w.complete(w.dirty(), flush)
	}
	err = either(err, w.comm.Barrier().Run()) // whatever is wrong here, the others wait for this rank
	order()
	return err
}
