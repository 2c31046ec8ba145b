package rma

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/window"
)

// That a rank has called MPI_Win_post or MPI_Win_complete is counted in memory that it shares with
// this one, or told by a message. Which one it is may differ from call to call: what a rank
// completes must come behind its accesses, and these may be messages.

// tell tells a rank of an event. With replicas, and in a window of one rank, what a rank tells
// itself needs no message.
func (w *Window) tell(rank int, v verb) error {
	e := window.Posted
	if v == completed {
		e = window.Completed
	}
	switch {
	case w.memory.Counts(rank) && !(v == completed && w.isDirty(rank)):
		w.memory.Tell(e, rank)
		return nil
	case rank != w.comm.Rank() && w.copies && v == posted:
		return w.tellReplicas(rank)
	case rank == w.comm.Rank() && w.ear == nil:
		w.comm.Engine().Tell(func() { w.target.control(rank, &message{verb: v}) })
		return nil
	}
	return w.send(rank, &message{verb: v})
}

// isDirty tells whether something was sent to a rank that may not be done there.
func (w *Window) isDirty(rank int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to[rank].dirty
}

// told are how many events of a rank came by messages.
func (w *Window) told(e window.Event) []int {
	if e == window.Posted {
		return w.target.posts
	}
	return w.target.ends
}

// counted tells whether a rank has counted an event that isn't used up.
func (w *Window) counted(e window.Event, rank int) bool {
	return w.memory.Counts(rank) && w.memory.Told(e, rank) != w.native.Seen(e, rank)
}

// event tells whether there is an event of a rank that isn't used up, or an error if there will be
// none. The engine's lock is held.
func (w *Window) event(e window.Event, rank int, lost func(proto.Rank) bool) (bool, error) {
	world := w.comm.Ranks()[rank]
	gone := lost(world) // first: what it has counted before its death is to be seen
	switch {
	case w.told(e)[rank] > 0 || w.counted(e, rank):
		return true, nil
	case gone:
		return false, &process.LostError{Rank: world}
	}
	return false, nil
}

// awaitEvent waits for an event of a rank, and doesn't use it up.
func (w *Window) awaitEvent(name, what string, rank int, e window.Event) error {
	return w.memory.AwaitTold(rank, name, what, func(lost func(proto.Rank) bool) (bool, error) { return w.event(e, rank, lost) })
}

// useUp uses up an event of each of some ranks that have one.
func (w *Window) useUp(e window.Event, ranks []int) {
	w.comm.Engine().Tell(func() {
		for _, r := range ranks {
			if told := w.told(e); w.counted(e, r) {
				w.native.UseUp(e, r)
			} else if told[r] > 0 {
				told[r]--
			}
		}
	})
}

// testEvents tells whether there is an event of each of some ranks that lives.
func (w *Window) testEvents(e window.Event, ranks []int) (done bool, err, loss error) {
	done, err = w.comm.Engine().Look(func(lost func(proto.Rank) bool) (bool, error) {
		loss = nil
		for _, r := range ranks {
			switch is, gone := w.event(e, r, lost); {
			case gone != nil:
				loss = gone
			case !is:
				return false, nil // also if another one is lost: a later epoch must not get this one's end
			}
		}
		return true, nil
	})
	return done, err, loss
}
