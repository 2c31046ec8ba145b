package binding

import (
	"fmt"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/reduce"
)

// operation is the object of an Op: a predefined operation, or a function of the program.
type operation struct {
	handle      Op
	fn          uintptr // 0 if it is predefined
	wide        bool    // an MPI_User_function_c
	commutative bool
}

// opNames are the predefined operations.
var opNames = map[Op]string{
	OpSum: "MPI_SUM", OpMin: "MPI_MIN", OpMax: "MPI_MAX", OpProd: "MPI_PROD",
	OpBand: "MPI_BAND", OpBor: "MPI_BOR", OpBxor: "MPI_BXOR", OpLand: "MPI_LAND", OpLor: "MPI_LOR", OpLxor: "MPI_LXOR",
	OpMinloc: "MPI_MINLOC", OpMaxloc: "MPI_MAXLOC", OpReplace: "MPI_REPLACE", OpNoOp: "MPI_NO_OP",
}

// predefinedOps are the operations of the ABI by handle.
var predefinedOps = func() (ops [OpNoOp + 1]*operation) {
	for _, op := range reduce.All {
		ops[op] = &operation{handle: Op(op), commutative: op.Commutative()}
	}
	return ops
}()

// operation is the object of a handle, nil if it has none: see noOp.
func (p *Process) operation(h Op) *operation {
	if h < Op(len(predefinedOps)) {
		return predefinedOps[h]
	}
	return p.ops.get(uintptr(h))
}

// noOp is the error of a handle that names no operation.
func (p *Process) noOp(c *communicator, function string, h Op) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if h == OpNull {
		return p.fail(c, function, ErrOp, "the operation is MPI_OP_NULL")
	}
	return p.noHandle(c, function, ErrOp, "operation", uintptr(h))
}

func (o *operation) title() string {
	if n := opNames[o.handle]; n != "" {
		return n
	}
	return fmt.Sprintf("operation %#x", uintptr(o.handle))
}

// reduction is an operation on elements of a type, for a collective on packed data.
func (p *Process) reduction(c *communicator, function string, op Op, d *datatype) (comm.Op, Code) {
	o := p.operation(op)
	if o == nil {
		return comm.Op{}, p.noOp(c, function, op)
	}
	if o.fn != 0 {
		return comm.Op{Combiner: &userReduction{p, o, d}, Size: int(d.Size()), Foreign: true}, Success
	}
	f, code := p.predefinedReduction(c, function, o, d)
	return comm.Op{Combiner: comm.Func(f), Size: int(d.Size())}, code
}

// predefinedReduction is a predefined operation on a type.
func (p *Process) predefinedReduction(c *communicator, function string, o *operation, d *datatype) (reduce.Func, Code) {
	if o.handle == OpReplace || o.handle == OpNoOp {
		return nil, p.fail(c, function, ErrOp, "%s is for one-sided communication only", o.title())
	}
	if !d.Basic() {
		return nil, p.fail(c, function, ErrOp, "%s is for predefined datatypes only, and %s is derived", o.title(), d.title())
	}
	f := reduce.For(reduce.Op(o.handle), d.Kind())
	if f == nil {
		return nil, p.fail(c, function, ErrOp, "%s isn't defined for %s", o.title(), d.title())
	}
	return f, Success
}

// OpCreate is MPI_Op_create.
func (p *Process) OpCreate(userFn uintptr, commute int32, op *Op) Code {
	return p.createOp("MPI_Op_create", &operation{fn: userFn, commutative: commute != 0}, op)
}

// OpCreateC is MPI_Op_create_c.
func (p *Process) OpCreateC(userFn uintptr, commute int32, op *Op) Code {
	return p.createOp("MPI_Op_create_c", &operation{fn: userFn, wide: true, commutative: commute != 0}, op)
}

func (p *Process) createOp(function string, o *operation, op *Op) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if o.fn == 0 {
		return p.fail(nil, function, ErrArg, "the function is null")
	}
	if o.handle = Op(p.ops.add(o)); o.handle == 0 {
		return p.fail(nil, function, ErrNoMem, "there are too many operations")
	}
	*op = o.handle
	return Success
}

// OpFree is MPI_Op_free. Collectives that use the operation go on.
func (p *Process) OpFree(op *Op) Code {
	const function = "MPI_Op_free"
	o := p.operation(*op)
	switch {
	case o == nil || !p.live():
		return p.noOp(nil, function, *op)
	case o.fn == 0:
		return p.fail(nil, function, ErrOp, "%s is predefined", o.title())
	}
	p.ops.remove(uintptr(*op))
	*op = OpNull
	return Success
}

// OpCommutative is MPI_Op_commutative.
func (p *Process) OpCommutative(op Op, commute *int32) Code {
	o := p.operation(op)
	if o == nil || !p.live() {
		return p.noOp(nil, "MPI_Op_commutative", op)
	}
	*commute = truth(o.commutative)
	return Success
}
