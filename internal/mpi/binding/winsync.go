package binding

import (
	"errors"
	"sync/atomic"

	"banyan/internal/runtime/process"
)

// Epochs of windows whose memory is loaded and stored directly. MPI_Put and the other functions
// that move data don't exist yet, so no call has anything to end: it orders loads and stores, and
// excludes other ranks.

// isLoss says that an error is the death of a rank, or what another rank has made of one.
func isLoss(err error) bool {
	return errors.Is(err, process.ErrRankLost) || errors.Is(err, process.ErrRevoked)
}

// order keeps loads and stores before it apart from those after it, in C as well.
func order() {
	var word atomic.Uint32
	word.Swap(1)
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
	if rank, held := w.held(); held {
		return p.fail(&w.communicator, function, ErrRmaSync, "rank %d's part is locked", rank)
	}
	order()
	if err := w.comm.Barrier().Run(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	order()
	return Success
}

// WinSync is MPI_Win_sync.
func (p *Process) WinSync(win Win) Code {
	if p.window(win) == nil {
		return p.noWin("MPI_Win_sync", win)
	}
	order()
	return Success
}

// held is a rank whose part this rank has locked, if there is one.
func (w *window) held() (rank int32, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.allSet {
		return 0, true
	}
	least := int32(-1)
	for r := range w.locks {
		if least < 0 || r < least {
			least = r
		}
	}
	return least, least >= 0
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
	w.mu.Lock()
	_, twice := w.locks[rank]
	all := w.allSet
	if !twice && !all {
		w.locks[rank] = lockType
	}
	w.mu.Unlock()
	if twice || all {
		return p.fail(c, function, ErrRmaSync, "this rank has locked rank %d's part already", rank)
	}
	if err := w.memory.Lock(int(rank), lockType == LockExclusive); err != nil {
		w.mu.Lock()
		delete(w.locks, rank)
		w.mu.Unlock()
		return p.failWith(c, function, err)
	}
	order()
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
	order()
	w.mu.Lock()
	kind, held := w.locks[rank]
	if held {
		w.memory.Unlock(int(rank), kind == LockExclusive)
		delete(w.locks, rank)
	}
	w.mu.Unlock()
	if !held {
		return p.fail(&w.communicator, function, ErrRmaSync, "this rank hasn't locked rank %d's part", rank)
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
	w.mu.Lock()
	already := w.allSet || len(w.locks) > 0
	w.allSet = w.allSet || !already
	w.mu.Unlock()
	if already {
		return p.fail(c, function, ErrRmaSync, "this rank has locked a part already")
	}
	if err := w.memory.LockAll(); err != nil {
		w.mu.Lock()
		w.allSet = false
		w.mu.Unlock()
		return p.failWith(c, function, err)
	}
	order()
	return Success
}

// WinUnlockAll is MPI_Win_unlock_all.
func (p *Process) WinUnlockAll(win Win) Code {
	const function = "MPI_Win_unlock_all"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	order()
	w.mu.Lock()
	held := w.allSet
	if held {
		w.memory.UnlockAll()
		w.allSet = false
	}
	w.mu.Unlock()
	if !held {
		return p.fail(&w.communicator, function, ErrRmaSync, "this rank hasn't locked all parts")
	}
	return Success
}

// WinFlush is MPI_Win_flush.
func (p *Process) WinFlush(rank int32, win Win) Code { return p.flush("MPI_Win_flush", rank, win) }

// WinFlushLocal is MPI_Win_flush_local.
func (p *Process) WinFlushLocal(rank int32, win Win) Code {
	return p.flush("MPI_Win_flush_local", rank, win)
}

// WinFlushAll is MPI_Win_flush_all.
func (p *Process) WinFlushAll(win Win) Code { return p.flushAll("MPI_Win_flush_all", win) }

// WinFlushLocalAll is MPI_Win_flush_local_all.
func (p *Process) WinFlushLocalAll(win Win) Code { return p.flushAll("MPI_Win_flush_local_all", win) }

func (p *Process) flush(function string, rank int32, win Win) Code {
	w := p.window(win)
	switch {
	case w == nil:
		return p.noWin(function, win)
	case rank == ProcNull:
		return Success
	case !w.has(rank):
		return p.fail(&w.communicator, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, w.comm.Size())
	}
	w.mu.Lock()
	_, held := w.locks[rank]
	held = held || w.allSet
	w.mu.Unlock()
	if !held {
		return p.fail(&w.communicator, function, ErrRmaSync, "this rank hasn't locked rank %d's part", rank)
	}
	order()
	return Success
}

func (p *Process) flushAll(function string, win Win) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if _, held := w.held(); !held {
		return p.fail(&w.communicator, function, ErrRmaSync, "this rank hasn't locked any part")
	}
	order()
	return Success
}
