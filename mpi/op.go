package mpi

import "banyan/internal/mpi/comm"

// Op combines two operands, element by element: inout[i] = inout[i] op in[i], where inout comes
// from the lower ranks. It must be associative. It need not be commutative, because ranks are
// always combined in their order.
type Op[T Element] func(inout, in []T)

// Number is an Element that can be added.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Ordered is an Element that can be compared.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// Integer is an Element with bitwise operations.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Sum adds.
func Sum[T Number](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] += in[i]
	}
}

// Prod multiplies.
func Prod[T Number](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] *= in[i]
	}
}

// Min keeps the smaller operand; of NaN and a number it keeps NaN.
func Min[T Ordered](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] = min(inout[i], in[i])
	}
}

// Max keeps the larger operand; of NaN and a number it keeps NaN.
func Max[T Ordered](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] = max(inout[i], in[i])
	}
}

// BitAnd keeps the bits that both have.
func BitAnd[T Integer](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] &= in[i]
	}
}

// BitOr keeps the bits that either has.
func BitOr[T Integer](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] |= in[i]
	}
}

// BitXor keeps the bits that exactly one of them has.
func BitXor[T Integer](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] ^= in[i]
	}
}

// And tells whether both are true.
func And[T ~bool](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] = inout[i] && in[i]
	}
}

// Or tells whether either is true.
func Or[T ~bool](inout, in []T) {
	in = in[:len(inout)]
	for i := range inout {
		inout[i] = inout[i] || in[i]
	}
}

// onMemory is an Op on memory: a comm.Combiner. It is a function itself, so that an interface holds
// it without an allocation.
type onMemory[T Element] func(inout, in []T)

// Combine folds the right operand into the left.
func (op onMemory[T]) Combine(left, right []byte) { op(elementsOf[T](left), elementsOf[T](right)) }

// operator is an Op for package comm, which must expect the program's own code.
func operator[T Element](op Op[T]) comm.Op {
	return comm.Op{Combiner: onMemory[T](op), Size: size[T](), Foreign: true}
}
