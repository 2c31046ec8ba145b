package rma

import "slices"

// epoch is which epochs this rank is in.
type epoch struct {
	fence   bool         // a fence has begun one, which counts once it is used
	targets []int        // of MPI_Win_start
	start   bool         // MPI_Win_start was called
	origins []int        // of MPI_Win_post
	post    bool         // MPI_Win_post was called
	locks   map[int]bool // by rank: exclusive
	checked map[int]bool // by rank: the lock was really taken (no MPI_MODE_NOCHECK)
	all     bool         // MPI_Win_lock_all
	allTook bool         // and the locks were really taken
}

// passive tells whether a lock is held.
func (e *epoch) passive() bool { return e.all || len(e.locks) > 0 }

// started tells whether this rank is in an epoch of MPI_Win_start.
func (w *Window) started() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epoch.start
}

// held is a rank whose part this rank has locked, if there is one. The lock mu is held.
func (w *Window) held() (rank int, is bool) {
	if w.epoch.all {
		return 0, true
	}
	rank = -1
	for r := range w.epoch.locks {
		if rank < 0 || r < rank {
			rank = r
		}
	}
	return rank, rank >= 0
}

// mayAccess is an error unless this rank is in an epoch that allows it to access a target.
func (w *Window) mayAccess(rank int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &w.epoch
	switch {
	case e.start:
		if !slices.Contains(e.targets, rank) {
			return wrong(ErrSync, "rank %d isn't in the group of MPI_Win_start", rank)
		}
	case e.all:
	case len(e.locks) > 0:
		if _, locked := e.locks[rank]; !locked {
			return wrong(ErrSync, "this rank hasn't locked rank %d's part", rank)
		}
	case e.fence:
		w.native.Use()
	default:
		return wrong(ErrSync, "rank %d's part is accessed outside of an epoch: no MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all has begun one", rank)
	}
	return nil
}

// beginOther ends an epoch of MPI_Win_fence that nobody has used, since another one begins. It is
// an error if there is one that excludes it. The lock mu is held.
func (w *Window) beginOther() error {
	switch e := &w.epoch; {
	case e.start:
		return wrong(ErrSync, "the epoch of MPI_Win_start isn't over")
	case e.fence && w.native.Used():
		return wrong(ErrSync, "the epoch of MPI_Win_fence, in which this rank has accessed the window, isn't over")
	}
	w.epoch.fence = false
	w.tellEpoch()
	return nil
}

// Free is an error if an epoch isn't over.
func (w *Window) Free() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rank, held := w.held()
	switch e := &w.epoch; {
	case held:
		return wrong(ErrSync, "rank %d's part is still locked", rank)
	case e.start:
		return wrong(ErrSync, "the epoch of MPI_Win_start isn't over")
	case e.post:
		return wrong(ErrSync, "the epoch of MPI_Win_post isn't over")
	}
	return nil
}

// Fence ends an epoch, and begins one, unless the program has promised that it is the last
// (succeeds is false). All members call it.
func (w *Window) Fence(succeeds bool) error {
	w.mu.Lock()
	e := &w.epoch
	rank, held := w.held()
	switch {
	case held:
		w.mu.Unlock()
		return wrong(ErrSync, "rank %d's part is locked", rank)
	case e.start || e.post:
		w.mu.Unlock()
		return wrong(ErrSync, "the epoch of MPI_Win_start or MPI_Win_post isn't over")
	}
	e.fence = succeeds
	w.native.Unuse()
	w.tellEpoch()
	w.mu.Unlock()
	order()
	var err error
	if w.copies {
		err = w.fenceReplicas()
	} else {
		err = w.complete(w.dirty(), flush)
	}
	err = either(err, w.comm.Barrier().Run()) // whatever is wrong here, the others wait for this rank
	order()
	return err
}
