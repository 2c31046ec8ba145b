package binding

import (
	"unsafe"

	types "banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
	"banyan/internal/mpi/rma"
	"banyan/internal/runtime/engine"
)

// origin is a buffer of the program in a call that accesses a window.
type origin struct {
	at       unsafe.Pointer
	count    int64
	datatype Datatype
}

// winTarget is what a call accesses.
type winTarget struct {
	rank     int32
	disp     int64
	count    int64
	datatype Datatype
	win      Win
}

// winCall is a call that accesses a window, while its arguments are being checked.
type winCall struct {
	p        *Process
	function string
	w        *window
	access   rma.Access
	bytes    int64 // of the target's data
	code     Code
}

// accessing begins a call. done says that there is nothing to do: an argument is wrong, or the
// target is MPI_PROC_NULL.
func (p *Process) accessing(function string, t winTarget) (c *winCall, done bool) {
	c = &winCall{p: p, function: function, w: p.window(t.win)}
	if c.w == nil {
		c.code = p.noWin(function, t.win)
		return c, true
	}
	o := p.datatype(t.datatype)
	switch n := c.w.comm.Size(); {
	case t.rank != ProcNull && !c.w.has(t.rank):
		c.fail(ErrRank, "the target is rank %d, and the window has %d ranks", t.rank, n)
	case o == nil || t.count < 0 || !o.committed.Load():
		c.code = p.badData(&c.w.communicator, function, t.count, t.datatype, o)
	case t.disp < 0 && c.w.flavor != WinFlavorDynamic:
		c.fail(ErrDisp, "the displacement in rank %d's part is %d", t.rank, t.disp)
	case t.rank == ProcNull:
	default:
		var ok bool
		if c.bytes, ok = o.Bytes(t.count); !ok || c.bytes > maxData {
			c.fail(ErrCount, "%d elements of %s are more than can be addressed", t.count, o.title())
		}
		c.access = rma.Access{Rank: int(t.rank), Disp: t.disp, Type: o.Type, Count: t.count}
		return c, c.code != Success
	}
	return c, true
}

// fail notes a wrong argument.
func (c *winCall) fail(class Code, format string, args ...any) {
	if c.code == Success {
		c.code = c.p.fail(&c.w.communicator, c.function, class, format, args...)
	}
}

// buffer checks a buffer of the program.
func (c *winCall) buffer(o origin) (b rma.Buffer) {
	if c.code != Success {
		return b
	}
	typ, _, code := c.p.usable(&c.w.communicator, c.function, o.at, o.count, o.datatype)
	if c.code = code; code != Success {
		return b
	}
	return rma.Buffer{Type: typ.Type, At: o.at, Count: o.count}
}

// sizeOf is the number of bytes of a buffer that is checked.
func sizeOf(b rma.Buffer) int64 {
	if b.Type == nil {
		return 0
	}
	n, _ := b.Type.Bytes(b.Count)
	return n
}

// fits checks that a buffer has as many bytes as the target.
func (c *winCall) fits(what string, b rma.Buffer) {
	if n := sizeOf(b); c.code == Success && n != c.bytes {
		c.fail(ErrArg, "the %s's data has %d bytes, and the target's %d", what, n, c.bytes)
	}
}

// puts checks the origin of a put: it may have less than the target's type has room for.
func (c *winCall) puts(b rma.Buffer) {
	n := sizeOf(b)
	if _, contiguous := c.access.Type.Contiguous(c.access.Count); c.code == Success && contiguous && n < c.bytes {
		if each := c.access.Type.Size(); n%each == 0 {
			c.access.Count, c.bytes = n/each, n
		}
	}
	c.fits("origin", b)
	c.access.Origin = b
}

// gets checks the origin of a get: it may have room for more.
func (c *winCall) gets(b rma.Buffer) {
	if n := sizeOf(b); c.code == Success && n < c.bytes {
		c.fail(ErrTruncate, "the target's data has %d bytes, and the origin has room for %d", c.bytes, n)
	}
	c.access.Result = b
}

// elements checks the operation and the types of an accumulate.
func (c *winCall) elements(op Op, fetches bool, buffers ...rma.Buffer) {
	if c.code != Success {
		return
	}
	o := c.p.operation(op)
	switch {
	case o == nil:
		c.code = c.p.noOp(&c.w.communicator, c.function, op)
		return
	case o.fn != 0:
		c.fail(ErrOp, "%s is a function of the program, and one-sided communication has the predefined operations only", o.title())
		return
	case op == OpNoOp && !fetches:
		c.fail(ErrOp, "MPI_NO_OP is for functions that fetch data only")
		return
	}
	kind := c.access.Type.Kind()
	c.access.Op, c.access.Kind = reduce.Op(op), kind
	for _, b := range buffers {
		if b.Type != nil && b.Type.Kind() != kind && sizeOf(b) > 0 {
			c.fail(ErrType, "the elements of the origin are of kind %v, and those of the target of kind %v", b.Type.Kind(), kind)
			return
		}
	}
	switch {
	case kind == types.Mixed && c.bytes > 0:
		c.fail(ErrType, "the elements of the target's datatype aren't of one predefined type")
	case c.bytes > 0 && reduce.For(c.access.Op, kind) == nil:
		c.fail(ErrOp, "%s isn't defined for elements of kind %v", o.title(), kind)
	}
}

// end carries the access out. request is nil unless the program asked for one.
func (c *winCall) end(a rma.Access, request *Request) Code {
	if request != nil {
		*request = RequestNull
		a = a.Requested()
	}
	if c.code != Success {
		return c.code
	}
	p := c.p
	o, err := c.w.rma.Do(a)
	switch {
	case err != nil:
		return p.failWith(&c.w.communicator, c.function, err)
	case request == nil:
		return Success
	case o == nil:
		*request = sentHandle
		return Success
	}
	return p.startRequest(&c.w.communicator, c.function, o.Handle(), winWork{o}, request)
}

// ended is the end of a call with nothing to do.
func (c *winCall) ended(request *Request) Code {
	if request != nil {
		if *request = RequestNull; c.code == Success {
			*request = sentHandle
		}
	}
	return c.code
}

// winWork is the work of a request of an access that fetches data.
type winWork struct{ o *rma.Operation }

// finish implements work.
func (x winWork) finish(_ *request, s engine.Status, err error) error { return x.o.End(s, err) }

// free implements work.
func (winWork) free() error { return nil }

// unrequested is the error of a call that can't say what its request is.
func (p *Process) unrequested(function string, win Win) Code {
	if w := p.window(win); w != nil {
		return p.fail(&w.communicator, function, ErrArg, "the argument for the request is NULL")
	}
	return p.noWin(function, win)
}

func (p *Process) putInto(function string, from origin, t winTarget, request *Request) Code {
	c, done := p.accessing(function, t)
	if done {
		return c.ended(request)
	}
	c.puts(c.buffer(from))
	return c.end(c.access.Put(), request)
}

func (p *Process) getFrom(function string, to origin, t winTarget, request *Request) Code {
	c, done := p.accessing(function, t)
	if done {
		return c.ended(request)
	}
	c.gets(c.buffer(to))
	return c.end(c.access.Get(), request)
}

func (p *Process) accumulateInto(function string, from origin, t winTarget, op Op, request *Request) Code {
	c, done := p.accessing(function, t)
	if done {
		return c.ended(request)
	}
	c.access.Origin = c.buffer(from)
	c.fits("origin", c.access.Origin)
	c.elements(op, false, c.access.Origin)
	return c.end(c.access.Accumulate(), request)
}

func (p *Process) fetchFrom(function string, from, result origin, t winTarget, op Op, request *Request) Code {
	c, done := p.accessing(function, t)
	if done {
		return c.ended(request)
	}
	if op != OpNoOp { // else the origin's arguments have no meaning
		c.access.Origin = c.buffer(from)
		c.fits("origin", c.access.Origin)
	}
	c.access.Result = c.buffer(result)
	c.fits("result", c.access.Result)
	c.elements(op, true, c.access.Origin, c.access.Result)
	return c.end(c.access.Fetch(), request)
}

// Put is MPI_Put, MPI_Put_c.
func (p *Process) Put(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, win Win) Code {
	return p.putInto("MPI_Put", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, nil)
}

// Rput is MPI_Rput, MPI_Rput_c.
func (p *Process) Rput(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, win Win, request *Request) Code {
	if request == nil {
		return p.unrequested("MPI_Rput", win)
	}
	return p.putInto("MPI_Rput", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, request)
}

// Get is MPI_Get, MPI_Get_c.
func (p *Process) Get(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, win Win) Code {
	return p.getFrom("MPI_Get", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, nil)
}

// Rget is MPI_Rget, MPI_Rget_c.
func (p *Process) Rget(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, win Win, request *Request) Code {
	if request == nil {
		return p.unrequested("MPI_Rget", win)
	}
	return p.getFrom("MPI_Rget", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, request)
}

// Accumulate is MPI_Accumulate, MPI_Accumulate_c.
func (p *Process) Accumulate(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, op Op, win Win) Code {
	return p.accumulateInto("MPI_Accumulate", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, op, nil)
}

// Raccumulate is MPI_Raccumulate, MPI_Raccumulate_c.
func (p *Process) Raccumulate(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, op Op, win Win, request *Request) Code {
	if request == nil {
		return p.unrequested("MPI_Raccumulate", win)
	}
	return p.accumulateInto("MPI_Raccumulate", origin{originAddr, originCount, originDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, op, request)
}

// GetAccumulate is MPI_Get_accumulate, MPI_Get_accumulate_c.
func (p *Process) GetAccumulate(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, resultAddr unsafe.Pointer, resultCount int64, resultDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, op Op, win Win) Code {
	return p.fetchFrom("MPI_Get_accumulate", origin{originAddr, originCount, originDatatype}, origin{resultAddr, resultCount, resultDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, op, nil)
}

// RgetAccumulate is MPI_Rget_accumulate, MPI_Rget_accumulate_c.
func (p *Process) RgetAccumulate(originAddr unsafe.Pointer, originCount int64, originDatatype Datatype, resultAddr unsafe.Pointer, resultCount int64, resultDatatype Datatype, targetRank int32, targetDisp, targetCount int64, targetDatatype Datatype, op Op, win Win, request *Request) Code {
	if request == nil {
		return p.unrequested("MPI_Rget_accumulate", win)
	}
	return p.fetchFrom("MPI_Rget_accumulate", origin{originAddr, originCount, originDatatype}, origin{resultAddr, resultCount, resultDatatype}, winTarget{targetRank, targetDisp, targetCount, targetDatatype, win}, op, request)
}

// FetchAndOp is MPI_Fetch_and_op.
func (p *Process) FetchAndOp(originAddr, resultAddr unsafe.Pointer, datatype Datatype, targetRank int32, targetDisp int64, op Op, win Win) Code {
	const function = "MPI_Fetch_and_op"
	if code := p.basic(function, datatype, win); code != Success {
		return code
	}
	return p.fetchFrom(function, origin{originAddr, 1, datatype}, origin{resultAddr, 1, datatype}, winTarget{targetRank, targetDisp, 1, datatype, win}, op, nil)
}

// basic is an error unless a datatype is a predefined one.
func (p *Process) basic(function string, datatype Datatype, win Win) Code {
	w, o := p.window(win), p.datatype(datatype)
	if w == nil || o == nil || o.Basic() {
		return Success // or an error that is found later
	}
	return p.fail(&w.communicator, function, ErrType, "%s is derived", o.title())
}

// CompareAndSwap is MPI_Compare_and_swap.
func (p *Process) CompareAndSwap(originAddr, compareAddr, resultAddr unsafe.Pointer, datatype Datatype, targetRank int32, targetDisp int64, win Win) Code {
	const function = "MPI_Compare_and_swap"
	if code := p.basic(function, datatype, win); code != Success {
		return code
	}
	c, done := p.accessing(function, winTarget{targetRank, targetDisp, 1, datatype, win})
	if done {
		return c.code
	}
	kind := c.access.Type.Kind()
	if reduce.For(reduce.Bor, kind) == nil && reduce.For(reduce.Lor, kind) == nil {
		c.fail(ErrType, "%v is neither an integer, nor a logical, nor a byte", kind)
	}
	c.access.Kind, c.access.Op = kind, reduce.Replace
	c.access.Origin = c.buffer(origin{originAddr, 1, datatype})
	c.access.With = c.buffer(origin{compareAddr, 1, datatype})
	c.access.Result = c.buffer(origin{resultAddr, 1, datatype})
	return c.end(c.access.Swap(), nil)
}
