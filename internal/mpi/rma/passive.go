package rma

import (
	"fmt"

	"banyan/internal/mpi/comm"
)

// refused is an error if a part can't be locked at all; rank is -1 for all parts.
func (w *Window) refused(rank int) error {
	switch {
	case w.copies && rank != w.comm.Rank():
		return wrong(ErrReplicas, "in a job with replicas no rank accesses another one's part without its taking part: each replica "+
			"would come to it at a moment of its own; use MPI_Win_fence, or MPI_Win_post and MPI_Win_start")
	case w.noLocks:
		return wrong(ErrSync, "the window was made with the hint no_locks")
	}
	return nil
}

// Lock locks the part of a rank, and waits while others hold a lock that excludes it. With nocheck
// the program has promised that none do.
func (w *Window) Lock(rank int, exclusive, nocheck bool) error {
	if err := w.refused(rank); err != nil {
		return err
	}
	w.mu.Lock()
	if _, twice := w.epoch.locks[rank]; twice || w.epoch.all {
		w.mu.Unlock()
		return wrong(ErrSync, "this rank has locked rank %d's part already", rank)
	}
	if err := w.beginOther(); err != nil {
		w.mu.Unlock()
		return err
	}
	w.epoch.locks[rank] = exclusive
	w.mu.Unlock()
	if err := w.take(rank, exclusive, nocheck); err != nil {
		w.mu.Lock()
		delete(w.epoch.locks, rank)
		w.tellEpoch()
		w.mu.Unlock()
		return err
	}
	w.mu.Lock()
	if w.epoch.checked == nil {
		w.epoch.checked = map[int]bool{}
	}
	w.epoch.checked[rank] = !nocheck
	w.native.SetMay(rank, true)
	w.tellEpoch()
	w.mu.Unlock()
	order()
	return nil
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
	w.mu.Lock()
	exclusive, held := w.epoch.locks[rank]
	checked := w.epoch.checked[rank]
	w.mu.Unlock()
	if !held {
		return wrong(ErrSync, "this rank hasn't locked rank %d's part", rank)
	}
	order()
	var err error
	switch {
	case w.copies:
	case w.spread && checked:
		err = w.complete([]int{rank}, unlock)
	default:
		err = w.complete([]int{rank}, flush)
	}
	w.mu.Lock()
	if !w.spread && checked {
		w.memory.Unlock(rank, exclusive)
	}
	delete(w.epoch.locks, rank)
	w.native.SetMay(rank, false)
	w.tellEpoch()
	w.mu.Unlock()
	return err
}

// LockAll takes the shared locks of all parts.
func (w *Window) LockAll(nocheck bool) error {
	if err := w.refused(-1); err != nil {
		return err
	}
	w.mu.Lock()
	if w.epoch.passive() {
		w.mu.Unlock()
		return wrong(ErrSync, "this rank has locked a part already")
	}
	if err := w.beginOther(); err != nil {
		w.mu.Unlock()
		return err
	}
	w.epoch.all, w.epoch.allTook = true, !nocheck
	w.mu.Unlock()
	err := w.takeAll(nocheck)
	if err != nil {
		w.mu.Lock()
		w.epoch.all = false
		w.mu.Unlock()
		return err
	}
	w.mu.Lock()
	w.tellEpoch()
	w.mu.Unlock()
	order()
	return nil
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
	w.mu.Lock()
	held, took := w.epoch.all, w.epoch.allTook
	w.mu.Unlock()
	if !held {
		return wrong(ErrSync, "this rank hasn't locked all parts")
	}
	order()
	var err error
	if w.spread && took {
		err = w.complete(w.everyone(), unlock)
	} else {
		err = w.complete(w.dirty(), flush)
	}
	w.mu.Lock()
	if !w.spread && took {
		w.memory.UnlockAll()
	}
	w.epoch.all = false
	w.tellEpoch()
	w.mu.Unlock()
	return err
}

// Leave is the end of this rank's part in a window that the program hasn't freed: others may wait
// for locks.
func (w *Window) Leave() {
	w.mu.Lock()
	all := w.epoch.all
	locks := map[int]bool{}
	for r, exclusive := range w.epoch.locks {
		if w.epoch.checked[r] {
			locks[r] = exclusive
		}
	}
	w.mu.Unlock()
	for rank := range w.to {
		exclusive, held := locks[rank]
		switch {
		case w.copies:
		case w.spread && (held || all):
			w.send(rank, &message{verb: leave})
		case exclusive:
			w.memory.Leave(rank)
		}
	}
	w.memory.Drop()
}
