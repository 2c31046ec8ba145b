package rma

import (
	"fmt"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/lane"
)

// refused is an error if a part can't be locked at all; rank is -1 for all parts.
func (w *Window) refused(rank int) error {
	switch {
	case w.noLocks:
		return wrong(ErrSync, "the window was made with the hint no_locks")
	case w.copies && rank != w.comm.Rank():
		return w.notInOrder("no rank accesses another one's part without its taking part", "use MPI_Win_fence, or MPI_Win_post and MPI_Win_start")
	}
	return nil
}

// notInOrder is the error about what a window with replicas could do in leader order only, and what
// the program may do instead.
func (w *Window) notInOrder(what, instead string) error {
	why := "run the job with --order leader, or " + instead
	e := w.comm.Engine()
	switch {
	case !e.LedJob():
	case w.dynamic:
		why = "in a dynamic window that is so in leader order, too: memory has other addresses in each replica"
	case w.noLocks:
		why = "make the window without the hint no_locks"
	default:
		why = "in leader order (--order leader) that is so where a rank has threads that communicate at the same time (MPI_THREAD_MULTIPLE)"
	}
	return wrong(ErrReplicas, "in a job with replicas %s: each replica would come to it at a moment of its own; %s", what, why)
}

// Lock locks the part of a rank, and waits while others hold a lock that excludes it. With nocheck
// the program has promised that none do.
func (w *Window) Lock(rank int, exclusive, nocheck bool) error {
	if err := w.refused(rank); err != nil {
		return err
	}
	if err := w.claim(rank); err != nil {
		return err
	}
	if err := w.take(rank, exclusive, nocheck); err != nil {
		w.native.SetLock(rank, lane.Free)
		return err
	}
	hold := lane.Shared
	if exclusive {
		hold = lane.Exclusive
	}
	if nocheck {
		hold |= lane.Unchecked
	}
	w.native.SetLock(rank, hold)
	order()
	return w.synchronise("MPI_Win_lock", false)
}

// claim begins to lock a part, if no epoch excludes that.
func (w *Window) claim(rank int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all, _ := w.native.AllLocked(); all || !w.native.Claim(rank) {
		return wrong(ErrSync, "this rank has locked rank %d's part already", rank)
	}
	err := w.beginOther()
	if err != nil {
		w.native.SetLock(rank, lane.Free)
	}
	return err
}

// take takes a lock.
func (w *Window) take(rank int, exclusive, nocheck bool) error {
	switch {
	case nocheck || w.copies: // with replicas it is this rank's own: nobody else can lock it
		return nil
	case !w.spread:
		return w.memory.Lock(rank, exclusive)
	}
	v := lockShared
	if exclusive {
		v = lockExclusive
	}
	a, err := w.ask(rank, v)
	if err != nil {
		return err
	}
	if err := a.await(); err != nil {
		return err
	}
	if len(a.text) == 0 {
		return nil
	}
	holder, left, err := holderOf(a.text)
	if err != nil || holder < 0 || holder >= w.comm.Size() {
		return fmt.Errorf("rank %d answers %q: %w", rank, a.text, errMessage)
	}
	return &comm.HolderError{Holder: holder, Part: rank, World: w.comm.Ranks()[holder], Left: left}
}

// Unlock ends the epoch of a rank's part: all accesses are done then.
func (w *Window) Unlock(rank int) error {
	hold := w.native.LockOf(rank)
	if !hold.Held() {
		return wrong(ErrSync, "this rank hasn't locked rank %d's part", rank)
	}
	checked := hold&lane.Unchecked == 0
	order()
	err := w.synchronise("MPI_Win_unlock", false)
	switch {
	case err != nil || w.copies:
	case w.spread && checked:
		err = w.complete([]int{rank}, unlock)
	default:
		err = w.complete([]int{rank}, flush)
	}
	if !w.spread && checked {
		w.memory.Unlock(rank, hold&lane.Exclusive != 0)
	}
	w.native.SetLock(rank, lane.Free)
	if err == nil && rank == w.comm.Rank() {
		err = w.ownAccesses("MPI_Win_unlock")
	}
	return err
}

// LockAll takes the shared locks of all parts.
func (w *Window) LockAll(nocheck bool) error {
	if err := w.refused(-1); err != nil {
		return err
	}
	w.mu.Lock()
	if w.native.Passive() {
		w.mu.Unlock()
		return wrong(ErrSync, "this rank has locked a part already")
	}
	err := w.beginOther()
	if err == nil {
		w.native.SetAllLocked(true, !nocheck)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if err := w.takeAll(nocheck); err != nil {
		w.native.SetAllLocked(false, false)
		return err
	}
	order()
	return w.synchronise("MPI_Win_lock_all", false)
}

func (w *Window) takeAll(nocheck bool) error {
	switch {
	case nocheck:
		return nil
	case !w.spread:
		return w.memory.LockAll()
	}
	for rank := range w.to {
		if err := w.take(rank, false, false); err != nil {
			w.complete(w.everyone()[:rank], unlock)
			return err
		}
	}
	return nil
}

// UnlockAll is the end of LockAll.
func (w *Window) UnlockAll() error {
	held, took := w.native.AllLocked()
	if !held {
		return wrong(ErrSync, "this rank hasn't locked all parts")
	}
	order()
	err := w.synchronise("MPI_Win_unlock_all", false)
	switch {
	case err != nil:
	case w.spread && took:
		err = w.complete(w.everyone(), unlock)
	default:
		err = w.complete(w.dirty(), flush)
	}
	if !w.spread && took {
		w.memory.UnlockAll()
	}
	w.native.SetAllLocked(false, false)
	if err == nil {
		err = w.ownAccesses("MPI_Win_unlock_all")
	}
	return err
}

// Leave is the end of this rank's part in a window that the program hasn't freed: others may wait
// for locks.
func (w *Window) Leave() {
	all, _ := w.native.AllLocked()
	for rank := range w.to {
		hold := w.native.LockOf(rank)
		held := hold.Held() && hold&lane.Unchecked == 0
		switch {
		case w.copies:
		case w.spread && (held || all):
			w.send(rank, &message{verb: leave})
		case held && hold&lane.Exclusive != 0:
			w.memory.Leave(rank)
		}
	}
	w.memory.Drop()
}
