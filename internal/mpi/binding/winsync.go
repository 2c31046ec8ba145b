package binding

import (
	"errors"

	"banyan/internal/runtime/process"
)

// isLoss says that an error is the death of a rank, or what another rank has made of one.
func isLoss(err error) bool {
	return errors.Is(err, process.ErrRankLost) || errors.Is(err, process.ErrRevoked)
}

const (
	fenceAsserts = ModeNostore | ModeNoput | ModeNoprecede | ModeNosucceed
	lockAsserts  = ModeNocheck
)

// WinFence is MPI_Win_fence: a barrier, whatever is asserted.
func (p *Process) WinFence(assert int32, win Win) Code {
	const function = "MPI_Win_fence"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if assert&^fenceAsserts != 0 {
		return p.fail(&w.communicator, function, ErrAssert, "the assertion is %d", assert)
	}
	if err := w.rma.Fence(assert&ModeNosucceed == 0); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinSync is MPI_Win_sync.
func (p *Process) WinSync(win Win) Code {
	const function = "MPI_Win_sync"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if err := w.rma.Sync(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinLock is MPI_Win_lock.
func (p *Process) WinLock(lockType, rank, assert int32, win Win) Code {
	const function = "MPI_Win_lock"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	c := &w.communicator
	switch {
	case lockType != LockExclusive && lockType != LockShared:
		return p.fail(c, function, ErrLocktype, "the lock type is %d: neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED", lockType)
	case assert&^lockAsserts != 0:
		return p.fail(c, function, ErrAssert, "the assertion is %d", assert)
	case rank == ProcNull:
		return Success
	case !w.has(rank):
		return p.fail(c, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, w.comm.Size())
	}
	if err := w.rma.Lock(int(rank), lockType == LockExclusive, assert&ModeNocheck != 0); err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

func (w *window) has(rank int32) bool { return rank >= 0 && int(rank) < w.comm.Size() }

// WinUnlock is MPI_Win_unlock.
func (p *Process) WinUnlock(rank int32, win Win) Code {
	const function = "MPI_Win_unlock"
	w := p.window(win)
	switch {
	case w == nil:
		return p.noWin(function, win)
	case rank == ProcNull:
		return Success
	case !w.has(rank):
		return p.fail(&w.communicator, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, w.comm.Size())
	}
	if err := w.rma.Unlock(int(rank)); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinLockAll is MPI_Win_lock_all.
func (p *Process) WinLockAll(assert int32, win Win) Code {
	const function = "MPI_Win_lock_all"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	c := &w.communicator
	if assert&^lockAsserts != 0 {
		return p.fail(c, function, ErrAssert, "the assertion is %d", assert)
	}
	if err := w.rma.LockAll(assert&ModeNocheck != 0); err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// WinUnlockAll is MPI_Win_unlock_all.
func (p *Process) WinUnlockAll(win Win) Code {
	const function = "MPI_Win_unlock_all"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if err := w.rma.UnlockAll(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinFlush is MPI_Win_flush.
func (p *Process) WinFlush(rank int32, win Win) Code {
	return p.flush("MPI_Win_flush", rank, win, false)
}

// WinFlushLocal is MPI_Win_flush_local.
func (p *Process) WinFlushLocal(rank int32, win Win) Code {
	return p.flush("MPI_Win_flush_local", rank, win, true)
}

// WinFlushAll is MPI_Win_flush_all.
func (p *Process) WinFlushAll(win Win) Code { return p.flushAll("MPI_Win_flush_all", win, false) }

// WinFlushLocalAll is MPI_Win_flush_local_all.
func (p *Process) WinFlushLocalAll(win Win) Code {
	return p.flushAll("MPI_Win_flush_local_all", win, true)
}

func (p *Process) flush(function string, rank int32, win Win, locally bool) Code {
	w := p.window(win)
	switch {
	case w == nil:
		return p.noWin(function, win)
	case rank == ProcNull:
		return Success
	case !w.has(rank):
		return p.fail(&w.communicator, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, w.comm.Size())
	}
	if err := w.rma.Flush(int(rank), locally); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

func (p *Process) flushAll(function string, win Win, locally bool) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if err := w.rma.Flush(-1, locally); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}
