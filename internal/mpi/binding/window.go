package binding

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// window is the object of a Win. It has a communicator of its own, a duplicate of the one that it
// was made from, for its messages, and for its name, attributes, hints and error handler.
type window struct {
	communicator
	memory *comm.Window
	flavor int32
	values *windowValues
	pins   runtime.Pinner // pins values, whose addresses C has

	mu     sync.Mutex
	locks  map[int32]int32 // the locks that this rank holds, or waits for: their types, by rank
	allSet bool            // MPI_Win_lock_all
}

// windowValues are the values of predefined attributes.
type windowValues struct {
	size                int64
	unit, flavor, model int32
}

// window is the object of a handle, nil if it has none: see noWin.
func (p *Process) window(h Win) *window {
	if !p.live() {
		return nil
	}
	return p.wins.get(uintptr(h))
}

// noWin is the error of a handle that names no window.
func (p *Process) noWin(function string, h Win) Code {
	switch {
	case p.state.Load() != running:
		return p.outOfTime(function)
	case h == WinNull:
		return p.fail(nil, function, ErrWin, "the window is MPI_WIN_NULL")
	case kindName(uintptr(h)) == "a window":
		return p.fail(nil, function, ErrWin, "the window %#x has been freed, or never was one", uintptr(h))
	}
	return p.noHandle(nil, function, ErrWin, "window", uintptr(h))
}

// newWindow is a window that is about to be made: what its ranks gave.
type newWindow struct {
	function string
	flavor   int32
	size     int64
	unit     int64
	info     Info
	comm     Comm
	base     unsafe.Pointer // of MPI_Win_create
	baseptr  unsafe.Pointer // of the others: where the address goes
	win      *Win
}

// WinAllocateShared is MPI_Win_allocate_shared, MPI_Win_allocate_shared_c.
func (p *Process) WinAllocateShared(size, dispUnit int64, info Info, comm Comm, baseptr unsafe.Pointer, win *Win) Code {
	return p.makeWindow(newWindow{"MPI_Win_allocate_shared", WinFlavorShared, size, dispUnit, info, comm, nil, baseptr, win})
}

// WinAllocate is MPI_Win_allocate, MPI_Win_allocate_c. The ranks of a host share the memory, as
// MPI_Win_shared_query shows.
func (p *Process) WinAllocate(size, dispUnit int64, info Info, comm Comm, baseptr unsafe.Pointer, win *Win) Code {
	return p.makeWindow(newWindow{"MPI_Win_allocate", WinFlavorAllocate, size, dispUnit, info, comm, nil, baseptr, win})
}

// WinCreate is MPI_Win_create, MPI_Win_create_c.
func (p *Process) WinCreate(base unsafe.Pointer, size, dispUnit int64, info Info, comm Comm, win *Win) Code {
	return p.makeWindow(newWindow{"MPI_Win_create", WinFlavorCreate, size, dispUnit, info, comm, base, nil, win})
}

func (p *Process) makeWindow(n newWindow) Code {
	c := p.communicator(n.comm)
	if c == nil {
		return p.noComm(n.function, n.comm)
	}
	if c.inter != nil {
		return p.isInter(c, n.function)
	}
	hints, valid := p.optional(n.info)
	switch {
	case !valid:
		return p.noInfo(n.function, n.info)
	case n.size < 0:
		return p.fail(c, n.function, ErrSize, "the size is %d", n.size)
	case n.unit <= 0 || n.unit > math.MaxInt32:
		return p.fail(c, n.function, ErrDisp, "the unit of displacements is %d", n.unit)
	case n.flavor == WinFlavorCreate && n.size > 0 && (n.base == nil || special(n.base)):
		return p.fail(c, n.function, ErrBase, "%d bytes at %p", n.size, n.base)
	case n.win == nil || n.flavor != WinFlavorCreate && n.baseptr == nil:
		return p.fail(c, n.function, ErrArg, "an argument for the result is NULL")
	case n.flavor == WinFlavorShared:
		if code := p.canShare(c, n.function); code != Success {
			return code
		}
	}
	noncontig, _ := hints.get("alloc_shared_noncontig")
	inner, err := c.comm.Dup()
	if err != nil {
		return p.failWith(c, n.function, err)
	}
	memory, err := inner.OpenWindow(comm.WindowConfig{
		Size: n.size, Unit: n.unit, Own: n.base, Brings: n.flavor == WinFlavorCreate,
		Apart: noncontig == "true" || n.flavor == WinFlavorAllocate,
		Host:  func(r proto.Rank) int32 { return p.hostOf(int(r)) },
	})
	if err != nil {
		inner.Free()
		return p.failWith(c, n.function, err)
	}
	w := &window{memory: memory, flavor: n.flavor, locks: map[int32]int32{}}
	w.communicator.comm, w.what = inner, "window"
	w.errhandler.Store(fatal)
	w.info.Store(hints.copy())
	w.values = &windowValues{n.size, int32(n.unit), n.flavor, WinUnified}
	h := p.wins.add(w)
	if h == 0 {
		memory.Close()
		inner.Free()
		return p.fail(c, n.function, ErrNoMem, "there are too many windows")
	}
	w.pins.Pin(w.values)
	w.handle, *n.win = Comm(h), Win(h)
	if n.baseptr != nil {
		*(*unsafe.Pointer)(n.baseptr) = w.base()
	}
	return Success
}

// canShare is an error unless the ranks of a communicator share memory.
func (p *Process) canShare(c *communicator, function string) Code {
	const advice = "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED gives communicators whose ranks share memory"
	if c.comm.Size() > 1 && p.copies() {
		return p.fail(c, function, ErrRmaShared, "in a job with replicas each replica of a rank has memory of its own, so ranks can't share any; %s: here, of one rank each", advice)
	}
	for i, r := range c.comm.Ranks() {
		if p.hostOf(int(r)) != p.hostOf(int(c.comm.Ranks()[0])) {
			return p.fail(c, function, ErrRmaShared, "ranks 0 and %d are on different hosts; %s", i, advice)
		}
	}
	return Success
}

// copies tells whether ranks run as several replicas.
func (p *Process) copies() bool { return p.job.Engine().Layout().Replicated() }

// base is where this rank's part is.
func (w *window) base() unsafe.Pointer { return w.memory.Parts[w.comm.Rank()].At }

// WinFree is MPI_Win_free. It waits for all that live, and needs nothing of the others.
func (p *Process) WinFree(win *Win) Code {
	const function = "MPI_Win_free"
	w := p.window(*win)
	if w == nil {
		return p.noWin(function, *win)
	}
	if rank, held := w.held(); held {
		return p.fail(&w.communicator, function, ErrRmaSync, "rank %d's part is still locked", rank)
	}
	if code := p.deleteAttributes(&w.attributes, uintptr(*win)); code != Success {
		return p.callbackFailed(&w.communicator, function, "delete", code)
	}
	if err := w.comm.Barrier().Run(); err != nil && !isLoss(err) {
		return p.failWith(&w.communicator, function, err)
	}
	p.wins.remove(uintptr(*win))
	*win = WinNull
	w.memory.Close()
	w.pins.Unpin()
	w.comm.Free()
	return Success
}

// leaveWindows is the end of windows that the program hasn't freed: others may wait for locks.
func (p *Process) leaveWindows() {
	for _, h := range p.wins.live() {
		w := p.wins.get(h)
		if w == nil {
			continue
		}
		w.mu.Lock()
		for rank, kind := range w.locks {
			if kind == LockExclusive {
				w.memory.Leave(int(rank))
			}
		}
		w.mu.Unlock()
		w.memory.Drop()
	}
}

// WinGetGroup is MPI_Win_get_group.
func (p *Process) WinGetGroup(win Win, group *Group) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_get_group", win)
	}
	*group = p.newGroup(w.comm.Ranks(), nil)
	return Success
}

// WinSharedQuery is MPI_Win_shared_query, MPI_Win_shared_query_c. For MPI_PROC_NULL it tells of the
// first rank whose part isn't empty. A part that this rank can't load from has the size 0.
func (p *Process) WinSharedQuery(win Win, rank int32, size *int64, dispUnit CountOut, baseptr unsafe.Pointer) Code {
	const function = "MPI_Win_shared_query"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if size == nil || dispUnit.P == nil || baseptr == nil {
		return p.fail(&w.communicator, function, ErrArg, "an argument for a result is NULL")
	}
	var part comm.WindowPart
	switch n := len(w.memory.Parts); {
	case rank == ProcNull:
		for _, q := range w.memory.Parts {
			if q.Size > 0 && q.At != nil {
				part = q
				break
			}
		}
	case rank < 0 || int(rank) >= n:
		return p.fail(&w.communicator, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, n)
	default:
		part = w.memory.Parts[rank]
	}
	if part.At == nil {
		part.Size = 0
	}
	*size = part.Size
	*(*unsafe.Pointer)(baseptr) = part.At
	dispUnit.Set(part.Unit)
	return Success
}
