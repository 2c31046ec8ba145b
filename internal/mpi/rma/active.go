package rma

import (
	"fmt"
	"slices"

	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/window"
)

// Post exposes this rank's part to some ranks, which call Start.
func (w *Window) Post(origins []int) error {
	w.mu.Lock()
	err := error(nil)
	if w.native.Exposed() {
		err = wrong(ErrSync, "the epoch of the last MPI_Win_post isn't over")
	} else if err = w.unfence(); err == nil {
		w.native.Posted().Set(slices.Sorted(slices.Values(origins)))
		w.native.SetExposed(true)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	order()
	err = w.synchronise("MPI_Win_post", false)
	for _, r := range origins {
		err = either(err, w.tell(r, posted))
	}
	return err
}

// Start begins an access epoch to some ranks, which call Post. It waits for
// them.
func (w *Window) Start(targets []int) error {
	w.mu.Lock()
	err := error(nil)
	if rank, held := w.held(); held {
		err = wrong(ErrSync, "rank %d's part is locked", rank)
	} else if err = w.beginOther(); err == nil {
		w.native.Started().Set(targets)
		w.start(targets, true)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	for _, r := range targets {
		if err = w.awaitPost(r); err != nil {
			break
		}
	}
	if err != nil { // the program may start an epoch without those that have died: no call of Post is used up
		w.start(targets, false)
	} else if !w.copies {
		w.useUp(window.Posted, targets)
	}
	order()
	return err
}

// start begins the epoch of Start, or ends it.
func (w *Window) start(targets []int, begins bool) {
	for _, r := range targets {
		w.native.SetMay(r, begins)
	}
	if begins {
		w.native.SetMode(lane.Started)
	} else {
		w.native.SetMode(lane.NoEpoch)
	}
}

// NameStart and NamePost let C begin an epoch like the last one of Start, or of Post, by the handle
// of its group.
func (w *Window) NameStart(group uint64) { w.name(w.native.Started(), group) }
func (w *Window) NamePost(group uint64)  { w.name(w.native.Posted(), group) }

func (w *Window) name(g *lane.Group, group uint64) {
	for _, r := range g.Ranks() {
		if !w.memory.Counts(r) {
			return
		}
	}
	g.Name(group)
}

// ForgetGroup has C forget a group that is about to be freed.
func (w *Window) ForgetGroup(group uint64) {
	w.native.Started().Forget(group)
	w.native.Posted().Forget(group)
}

// awaitPost waits for a target's call of Post.
func (w *Window) awaitPost(rank int) error {
	if w.copies && rank != w.comm.Rank() {
		return w.awaitPostOfReplicas(rank)
	}
	return w.awaitEvent("MPI_Win_start", fmt.Sprintf("for rank %d to call MPI_Win_post", rank), rank, window.Posted)
}

// Complete ends the epoch of Start.
func (w *Window) Complete() error {
	if !w.started() {
		return wrong(ErrSync, "MPI_Win_start hasn't been called")
	}
	targets := w.native.Started().Ranks()
	w.start(targets, false)
	order()
	err := w.finish(targets, false)
	if w.dynamic && !w.copies { // a target may have refused what only it can check
		err = either(err, w.complete(targets, flush))
	}
	for _, r := range targets {
		err = either(err, w.tell(r, completed))
	}
	return either(err, w.finish(targets, true))
}

// Wait ends the epoch of Post: all its origins have called Complete.
func (w *Window) Wait() error {
	if !w.native.Exposed() {
		return wrong(ErrSync, "MPI_Win_post hasn't been called")
	}
	var err error
	for _, r := range w.native.Posted().Ranks() {
		if w.copies && r != w.comm.Rank() {
			err = either(err, w.applyUntilComplete(r))
			continue
		}
		failed := w.awaitEvent("MPI_Win_wait", fmt.Sprintf("for rank %d to call MPI_Win_complete", r), r, window.Completed)
		if err = either(err, failed); failed == nil {
			w.useUp(window.Completed, []int{r})
		}
	}
	return either(err, w.endPost())
}

func (w *Window) endPost() error {
	w.native.SetExposed(false)
	order()
	return w.synchronise("MPI_Win_wait", false)
}

// Test is Wait, but doesn't wait: done is false if the epoch goes on.
func (w *Window) Test() (done bool, err error) {
	switch {
	case !w.native.Exposed():
		return false, wrong(ErrSync, "MPI_Win_post hasn't been called")
	case w.copies:
		return false, w.notInOrder("there is no MPI_Win_test", "use MPI_Win_wait")
	}
	origins := w.native.Posted().Ranks()
	done, err, loss := w.testEvents(window.Completed, origins)
	if done || err != nil {
		w.useUp(window.Completed, origins)
		err = either(err, w.endPost())
	}
	return done, either(err, loss)
}
