package binding

import (
	"math"
	"unsafe"
)

// userReduction is a function of the program on elements of a type. It is a comm.Combiner, so
// it works on packed data: the function gets a copy that is laid out as the type says.
//
// MPI's user functions compute inout = in op inout. So in is the left operand, from the lower
// ranks, and the result replaces the right one. A commutative function is called with the
// operands exchanged, which saves a copy.
//
// A function of a Fortran program works too: it gets a pointer to the handle, and the handle's
// lower half, which is at the same address, is Fortran's handle.
type userReduction struct {
	p   *Process
	op  *operation
	typ *datatype
}

// Combine calls the function for all elements of left and right.
func (u *userReduction) Combine(left, right []byte) {
	size := u.typ.Size()
	if size == 0 || len(left) == 0 {
		return
	}
	count := int64(len(left)) / size
	in, inout := operand{typ: u.typ, count: count, packed: left}, operand{typ: u.typ, count: count, packed: right}
	if u.op.commutative {
		in, inout = inout, in
	}
	in.spread(false)
	inout.spread(!u.op.commutative) // right must not change
	u.p.callUser(u.op, u.typ, in.at, inout.at, count)
	inout.collect(left)
	in.release()
	inout.release()
}

// callUser calls a user function for count elements, where in and inout are the
// addresses that the type's displacements are relative to.
func (p *Process) callUser(o *operation, typ *datatype, in, inout unsafe.Pointer, count int64) {
	_, extent := typ.Extent()
	for count > math.MaxInt32 && !o.wide { // more than fits the function's int
		p.host.Reduce(o.fn, false, in, inout, math.MaxInt32, typ.handle)
		in, inout = unsafe.Add(in, math.MaxInt32*extent), unsafe.Add(inout, math.MaxInt32*extent)
		count -= math.MaxInt32
	}
	p.host.Reduce(o.fn, o.wide, in, inout, count, typ.handle)
}

// operand is packed elements laid out for a user function: in their own memory if the packed
// layout is the type's layout, otherwise in a copy.
type operand struct {
	typ    *datatype
	count  int64
	packed []byte
	at     unsafe.Pointer // the address to call the function with
	copied *[]byte
}

// spread lays the elements out. With own it always makes a copy.
func (o *operand) spread(own bool) {
	lb, extent := o.typ.Extent()
	if first, contiguous := o.typ.Contiguous(o.count); contiguous && first == 0 && lb == 0 && extent == o.typ.Size() && !own {
		o.at = unsafe.Pointer(&o.packed[0])
		return
	}
	// The function may assign whole structs with their padding, so there is room for the whole
	// of each extent. The buffer contains the address o.at as well.
	first, length := o.typ.Span(o.count)
	all := extent * o.count
	low := min(0, first, lb, lb+all)
	high := max(1, first+length, lb+all, lb)
	o.copied = scratch.take(high - low)
	o.at = unsafe.Pointer(&(*o.copied)[-low])
	o.typ.Unpack(o.packed, o.at, o.count, 0)
}

// collect packs the elements into a buffer.
func (o *operand) collect(to []byte) {
	if o.copied != nil {
		o.typ.Pack(to, o.at, o.count, 0)
	}
}

func (o *operand) release() {
	if o.copied != nil {
		scratch.give(o.copied)
	}
}

// ReduceLocal is MPI_Reduce_local.
func (p *Process) ReduceLocal(inbuf, inoutbuf unsafe.Pointer, count int64, datatype Datatype, op Op) Code {
	const function = "MPI_Reduce_local"
	if !p.live() {
		return p.outOfTime(function)
	}
	o := p.operation(op)
	if o == nil {
		return p.noOp(nil, function, op)
	}
	typ, _, code := p.usable(nil, function, inbuf, count, datatype)
	if code != Success {
		return code
	}
	_, size, code := p.usable(nil, function, inoutbuf, count, datatype)
	if code != Success {
		return code
	}
	if _, contiguous := typ.Contiguous(count); size > 0 && (inbuf == inoutbuf || contiguous && distance(inbuf, inoutbuf) < uintptr(size)) {
		return p.fail(nil, function, ErrBuffer, "the two buffers overlap")
	}
	if o.fn != 0 {
		if count > 0 {
			p.callUser(o, typ, inbuf, inoutbuf, count)
		}
		return Success
	}
	f, code := p.predefinedReduction(nil, function, o, typ)
	if code != Success {
		return code
	}
	in, _ := p.outgoing(nil, function, inbuf, count, datatype)
	inout, _ := p.outgoing(nil, function, inoutbuf, count, datatype)
	f(inout.bytes, in.bytes) // predefined operations commute
	inout.unpack(int64(len(inout.bytes)))
	in.release()
	inout.release()
	return Success
}
