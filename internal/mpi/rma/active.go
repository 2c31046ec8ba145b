package rma

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Post exposes this rank's part to some ranks, which call Start.
func (w *Window) Post(origins []int) error {
	w.mu.Lock()
	e := &w.epoch
	err := error(nil)
	switch {
	case e.post:
		err = wrong(ErrSync, "the epoch of the last MPI_Win_post isn't over")
	case e.fence && w.native.Used():
		err = wrong(ErrSync, "the epoch of MPI_Win_fence, in which this rank has accessed the window, isn't over")
	default:
		e.fence, e.post, e.origins = false, true, slices.Sorted(slices.Values(origins))
		w.tellEpoch()
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	order()
	for _, r := range origins {
		err = either(err, w.tell(r, posted))
	}
	return err
}

// tell sends a message without data. With replicas, and in a window of one rank, what a rank tells
// itself needs no message.
func (w *Window) tell(rank int, v verb) error {
	if rank != w.comm.Rank() {
		if w.copies && v == posted {
			return w.tellReplicas(rank)
		}
		return w.send(rank, &message{verb: v})
	}
	if w.ear == nil {
		w.comm.Engine().Tell(func() { w.target.control(rank, &message{verb: v}) })
		return nil
	}
	return w.send(rank, &message{verb: v})
}

// Start begins an access epoch to some ranks, which call Post. It waits for
// them.
func (w *Window) Start(targets []int) error {
	w.mu.Lock()
	e := &w.epoch
	err := error(nil)
	if e.passive() {
		rank, _ := w.held()
		err = wrong(ErrSync, "rank %d's part is locked", rank)
	} else if err = w.beginOther(); err == nil {
		w.start(slices.Clone(targets), true)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	var posts []int
	for _, r := range targets {
		if err = w.awaitPost(r); err != nil {
			break
		}
		posts = append(posts, r)
	}
	if err != nil {
		w.mu.Lock()
		w.start(targets, false)
		w.mu.Unlock()
		w.giveBack(posts)
	}
	order()
	return err
}

// start begins the epoch of Start, or ends it. The lock mu is held.
func (w *Window) start(targets []int, begins bool) {
	e := &w.epoch
	if e.start, e.targets = begins, nil; begins {
		e.targets = targets
	}
	for _, r := range targets {
		w.native.SetMay(r, begins)
	}
	w.tellEpoch()
}

// giveBack gives targets' calls of Post back: the program may start an epoch without those that
// have died, for which these targets wait.
func (w *Window) giveBack(targets []int) {
	w.comm.Engine().Tell(func() {
		for _, r := range targets {
			w.target.posts[r]++
		}
	})
}

// awaitPost waits for a target's call of Post.
func (w *Window) awaitPost(rank int) error {
	if w.copies && rank != w.comm.Rank() {
		return w.awaitPostOfReplicas(rank)
	}
	return w.awaitCount("MPI_Win_start", fmt.Sprintf("for rank %d to call MPI_Win_post", rank), rank, w.target.posts)
}

// awaitCount waits until a member has sent one more message of a kind, and takes it off.
func (w *Window) awaitCount(name, what string, rank int, counts []int) error {
	world := w.comm.Ranks()[rank]
	return w.comm.Await(rank, name, what, func(lost func(proto.Rank) bool) (bool, error) {
		if counts[rank] > 0 {
			counts[rank]--
			return true, nil
		}
		if lost(world) {
			return false, &process.LostError{Rank: world}
		}
		return false, nil
	})
}

// Complete ends the epoch of Start.
func (w *Window) Complete() error {
	w.mu.Lock()
	e := &w.epoch
	started, targets := e.start, e.targets
	w.start(targets, false)
	w.mu.Unlock()
	if !started {
		return wrong(ErrSync, "MPI_Win_start hasn't been called")
	}
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
	w.mu.Lock()
	posted, origins := w.epoch.post, w.epoch.origins
	w.mu.Unlock()
	if !posted {
		return wrong(ErrSync, "MPI_Win_post hasn't been called")
	}
	var err error
	for _, r := range origins {
		if w.copies && r != w.comm.Rank() {
			err = either(err, w.applyUntilComplete(r))
		} else {
			err = either(err, w.awaitCount("MPI_Win_wait", fmt.Sprintf("for rank %d to call MPI_Win_complete", r), r, w.target.ends))
		}
	}
	w.endPost()
	return err
}

func (w *Window) endPost() {
	w.mu.Lock()
	w.epoch.post, w.epoch.origins = false, nil
	w.tellEpoch()
	w.mu.Unlock()
	order()
}

// Test is Wait, but doesn't wait: done is false if the epoch goes on.
func (w *Window) Test() (done bool, err error) {
	w.mu.Lock()
	posted, origins := w.epoch.post, w.epoch.origins
	w.mu.Unlock()
	switch {
	case !posted:
		return false, wrong(ErrSync, "MPI_Win_post hasn't been called")
	case w.copies:
		return false, wrong(ErrReplicas, "in a job with replicas their answers to MPI_Win_test could differ; use MPI_Win_wait")
	}
	var loss error
	done, err = w.comm.Engine().Look(func(lost func(proto.Rank) bool) (bool, error) {
		loss = nil
		for _, r := range origins {
			if w.target.ends[r] > 0 {
				continue
			}
			world := w.comm.Ranks()[r]
			if !lost(world) {
				return false, nil // also if another one is lost: a later epoch must not get this one's end
			}
			loss = &process.LostError{Rank: world}
		}
		for _, r := range origins {
			w.target.ends[r] = max(w.target.ends[r]-1, 0)
		}
		return true, nil
	})
	if done || err != nil {
		w.endPost()
	}
	return done, either(err, loss)
}
