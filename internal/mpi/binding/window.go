package binding

import (
	"math"
	"runtime"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/rma"
	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
)

// window is the object of a Win. It has a communicator of its own, a duplicate of the one that it
// was made from, for its messages, and for its name, attributes, hints and error handler.
type window struct {
	communicator
	memory *comm.Window
	rma    *rma.Window
	flavor int32
	values *windowValues
	pins   runtime.Pinner // pins values, whose addresses C has
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

// WinCreateDynamic is MPI_Win_create_dynamic.
func (p *Process) WinCreateDynamic(info Info, comm Comm, win *Win) Code {
	return p.makeWindow(newWindow{"MPI_Win_create_dynamic", WinFlavorDynamic, 0, 1, info, comm, nil, nil, win})
}

// brings tells whether the parts are memory of the program.
func (n *newWindow) brings() bool { return n.flavor == WinFlavorCreate || n.flavor == WinFlavorDynamic }

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
	case n.win == nil || !n.brings() && n.baseptr == nil:
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
		Size: n.size, Unit: n.unit, Own: n.base, Brings: n.brings(),
		Apart: noncontig == "true" || n.flavor == WinFlavorAllocate,
		Host:  func(r proto.Rank) int32 { return p.hostOf(c, int(r)) },
	})
	if err != nil {
		inner.Free()
		return p.failWith(c, n.function, err)
	}
	noLocks, _ := hints.get("no_locks")
	dynamic := n.flavor == WinFlavorDynamic
	answers, err := rma.Order(inner, dynamic, noLocks == "true")
	if err != nil {
		memory.Close()
		inner.Free()
		return p.failWith(c, n.function, err)
	}
	w := &window{memory: memory, flavor: n.flavor}
	w.communicator.comm, w.what, w.link = inner, "window", c.link.retain()
	w.uses.Store(1)
	w.rma = rma.Open(rma.Config{Comm: inner, Memory: memory, Dynamic: dynamic, NoLocks: noLocks == "true", Answers: answers})
	w.errhandler.Store(fatal)
	w.info.Store(hints.copy())
	w.values = &windowValues{n.size, int32(n.unit), n.flavor, WinUnified}
	if w.rma.Separate() {
		w.values.model = WinSeparate
	}
	h := p.wins.add(w)
	if h == 0 {
		w.rma.Close()
		memory.Close()
		inner.Free()
		w.link.release()
		return p.fail(c, n.function, ErrNoMem, "there are too many windows")
	}
	w.pins.Pin(w.values)
	w.handle, *n.win = Comm(h), Win(h)
	p.job.Engine().SetWin(uint64(h), w.rma.Native())
	inner.Publish(uintptr(lane.FenceHandle(uint64(h))))
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
		if p.hostOf(c, int(r)) != p.hostOf(c, int(c.comm.Ranks()[0])) {
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
	if err := w.rma.Free(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	if code := p.deleteAttributes(&w.attributes, uintptr(*win)); code != Success {
		return p.callbackFailed(&w.communicator, function, "delete", code)
	}
	// If a rank has died the barrier ends early, while another one still accesses this part: so
	// they agree, too. That alone would count a rank as failed that has finalised.
	err := w.comm.Barrier().Run()
	if err == nil || isLoss(err) {
		_, err = w.comm.Agree(0)
	}
	if err != nil && !isLoss(err) {
		return p.failWith(&w.communicator, function, err)
	}
	if err := w.rma.Freed(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	p.job.Engine().DropWin(uint64(*win))
	w.comm.Withdraw(uintptr(lane.FenceHandle(uint64(*win))))
	p.wins.remove(uintptr(*win))
	*win = WinNull
	w.rma.Close()
	w.memory.Close()
	w.pins.Unpin()
	w.release()
	return Success
}

// leaveWindows is the end of windows that the program hasn't freed: others may wait for locks.
func (p *Process) leaveWindows() {
	for _, h := range p.wins.live() {
		if w := p.wins.get(h); w != nil {
			w.rma.Leave()
		}
	}
}

// WinGetGroup is MPI_Win_get_group.
func (p *Process) WinGetGroup(win Win, group *Group) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_get_group", win)
	}
	*group = p.newGroup(p.outside(&w.communicator, w.comm.Ranks()), nil)
	return Success
}

// WinSharedQuery is MPI_Win_shared_query, MPI_Win_shared_query_c. For MPI_PROC_NULL it tells of
// the first rank whose part isn't empty. A part that this rank can't load from has the size 0.
func (p *Process) WinSharedQuery(win Win, rank int32, size *int64, dispUnit CountOut, baseptr unsafe.Pointer) Code {
	const function = "MPI_Win_shared_query"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if size == nil || dispUnit.P == nil || baseptr == nil {
		return p.fail(&w.communicator, function, ErrArg, "an argument for a result is NULL")
	}
	if w.flavor == WinFlavorDynamic {
		return p.fail(&w.communicator, function, ErrRmaFlavor, "the window was made by MPI_Win_create_dynamic: its ranks share nothing")
	}
	var part comm.WindowPart
	switch n := len(w.memory.Parts); {
	case rank == ProcNull:
		for _, q := range w.memory.Parts {
			if q.Size > 0 {
				part = q
				break
			}
		}
	case rank < 0 || int(rank) >= n:
		return p.fail(&w.communicator, function, ErrRank, "the rank is %d, and the window has %d ranks", rank, n)
	default:
		part = w.memory.Parts[rank]
	}
	switch {
	case part.At == nil:
		part.Size = 0
	case part.Size == 0 && w.memory.Apart: // it isn't between others, so it is nowhere
		part.At = nil
	}
	*size = part.Size
	*(*unsafe.Pointer)(baseptr) = part.At
	dispUnit.Set(part.Unit)
	return Success
}
