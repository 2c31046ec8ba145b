package comm

import (
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// HolderError says that a part of a window can't be locked any more, because a member has ended
// while it held the part's exclusive lock.
type HolderError struct {
	Holder, Part int        // in the communicator
	World        proto.Rank // the holder
	Left         bool       // it has left in order: MPI_Finalize, say
}

func (e *HolderError) Error() string {
	how := "died"
	if e.Left {
		how = "finalised"
	}
	return fmt.Sprintf("rank %d %s while it held the exclusive lock of rank %d's part, whose data may be half written", e.Holder, how, e.Part)
}

// Unwrap is a process.LostError, or ErrAbandoned.
func (e *HolderError) Unwrap() error {
	if e.Left {
		return ErrAbandoned
	}
	return &process.LostError{Rank: e.World}
}

// Lock locks the part of a member, and waits while others hold a lock that excludes it.
func (w *Window) Lock(rank int, exclusive bool) error {
	part := w.place[rank]
	if part < 0 {
		return w.comm.wrap("Lock", w.far(rank))
	}
	if w.memory == nil {
		return nil
	}
	wait := w.memory.Wait(part, exclusive, time.Now())
	err := w.await(fmt.Sprintf("for the lock of rank %d's part", rank), part, part+1,
		func(dead func(int) bool) bool { return wait.Try(time.Now(), dead) })
	if err != nil {
		w.memory.Forgo(part)
	}
	return err
}

// Unlock gives the lock of a member's part back.
func (w *Window) Unlock(rank int, exclusive bool) {
	if w.memory != nil {
		w.memory.Unlock(w.place[rank], exclusive)
	}
}

// LockAll takes the shared locks of the parts of all members.
func (w *Window) LockAll() error {
	for rank, part := range w.place {
		if part < 0 {
			return w.comm.wrap("LockAll", w.far(rank))
		}
	}
	if w.memory == nil {
		return nil
	}
	return w.await("for the locks of all parts", 0, len(w.near), w.memory.TryLockAll)
}

// UnlockAll gives back what LockAll has taken.
func (w *Window) UnlockAll() {
	if w.memory != nil {
		w.memory.UnlockAll()
	}
}

// Leave says that this member ends while it holds the exclusive lock of a part.
func (w *Window) Leave(rank int) {
	if w.memory != nil {
		w.memory.Leave(w.place[rank])
	}
}

// Drop gives up all locks here, and leaves the memory mapped.
func (w *Window) Drop() {
	if w.memory != nil {
		w.memory.Drop()
	}
}

// far is the error of a lock of a part that isn't on this host.
func (w *Window) far(rank int) error {
	if w.comm.copies {
		return fmt.Errorf("the part of rank %d: in a job with replicas each process has memory of its own: %w", rank, ErrFar)
	}
	return fmt.Errorf("the part of rank %d is on another host: %w", rank, ErrFar)
}

// await tries until it gets a lock, or one of the parts from first up to end is abandoned.
func (w *Window) await(what string, first, end int, try func(dead func(member int) bool) bool) error {
	if try(func(int) bool { return false }) {
		return nil
	}
	c := w.comm
	err := c.eng.AwaitLock(c.context, "MPI_Win_lock", what, func(lost func(proto.Rank) bool) (bool, error) {
		dead := func(member int) bool { return member < len(w.near) && lost(c.group[w.near[member]]) }
		if try(dead) {
			return true, nil
		}
		for part := first; part < end; part++ {
			by, left, is := w.memory.Abandoned(part, dead)
			if is {
				holder := w.near[max(0, min(by, len(w.near)-1))]
				return false, &HolderError{Holder: holder, Part: w.near[part], World: c.group[holder], Left: left}
			}
		}
		return false, nil
	})
	return c.wrap("Lock", err)
}
