// Package reduce is MPI's predefined reductions, such as MPI_SUM, over the elements of
// predefined datatypes (MPI-5.0, section 6.9.2). They are loops over bytes.
//
// Elements have the layout of a message: packed, one after another, at any address. A pair
// (MPI_DOUBLE_INT, …) has no gap between its value and its index, and none behind it.
//
// # Which operation takes which kind
//
//	SUM, PROD           integers, reals, complex numbers
//	MIN, MAX            integers, reals
//	LAND, LOR, LXOR     integers, logicals, bool
//	BAND, BOR, BXOR     integers, bytes
//	MINLOC, MAXLOC      pairs
//	REPLACE, NO_OP      all
//
// These are the standard's groups, with two extensions that other implementations have too and
// that programs rely on: MPI_CHAR is an integer (of 8 bits, signed), and the logical operations
// accept Fortran's integers, which are the same kinds as C's.
//
// # Rules
//
//   - A reduction is a function of its operands' bits. It is the same on each rank and replica,
//     and doesn't depend on how a message is cut into blocks.
//   - Integers wrap around. Logical results are 1 and 0; each value but 0 is true.
//   - MIN and MAX of a NaN and a number are the NaN, and -0 is less than +0, so the result
//     doesn't depend on the order. The same holds for MINLOC and MAXLOC; of equal values (also
//     NaNs and zeros) they take the lower index.
//   - Reals of 16 bits, long double and binary128 are added and multiplied as by hardware,
//     rounded to the nearest (package softfloat).
//
// # Limits
//
// A product of complex numbers is the four products and two sums of the textbook, without C's
// special cases for infinities. long double is computed in software, at some 20 million
// elements a second.
package reduce

import "banyan/internal/mpi/datatype"

// Op is a predefined operation. The values are the ABI's handles.
type Op uintptr

// The operations.
const (
	Sum     Op = 0x21
	Min     Op = 0x22
	Max     Op = 0x23
	Prod    Op = 0x24
	Band    Op = 0x28
	Bor     Op = 0x29
	Bxor    Op = 0x2a
	Land    Op = 0x30
	Lor     Op = 0x31
	Lxor    Op = 0x32
	Minloc  Op = 0x38
	Maxloc  Op = 0x39
	Replace Op = 0x3c
	NoOp    Op = 0x3d
)

// All are the operations by handle.
var All = []Op{Sum, Min, Max, Prod, Band, Bor, Bxor, Land, Lor, Lxor, Minloc, Maxloc, Replace, NoOp}

// Commutative tells whether the operands may be exchanged. Only REPLACE and NO_OP aren't
// commutative.
func (o Op) Commutative() bool { return o != Replace && o != NoOp }

// Func combines two operands, element by element: left[i] = left[i] op right[i]. Both have the
// same length, in whole elements.
type Func func(left, right []byte)

// For is the operation on elements of a kind, or nil if it isn't defined for the kind.
func For(op Op, k datatype.Kind) Func {
	switch op {
	case Replace:
		return func(left, right []byte) { copy(left, right) }
	case NoOp:
		return func(left, right []byte) {}
	}
	if i := int(op); i < len(table) && int(k) < len(table[i]) {
		return table[i][k]
	}
	return nil
}

// table is the operations by handle and kind.
var table = makeTable()

type operations map[Op]Func

func makeTable() (t [Maxloc + 1][datatype.Kinds]Func) {
	for k, ops := range map[datatype.Kind]operations{
		datatype.Byte:         bitwise,
		datatype.Char:         integer[int8](),
		datatype.Int8:         integer[int8](),
		datatype.Int16:        integer[int16](),
		datatype.Int32:        integer[int32](),
		datatype.Int64:        integer[int64](),
		datatype.Long:         integer[int64](),
		datatype.Int128:       wide,
		datatype.Uint8:        integer[uint8](),
		datatype.Uint16:       integer[uint16](),
		datatype.Uint32:       integer[uint32](),
		datatype.Uint64:       integer[uint64](),
		datatype.UnsignedLong: integer[uint64](),

		datatype.Bool:      logical[uint8](),
		datatype.Logical1:  logical[uint8](),
		datatype.Logical2:  logical[uint16](),
		datatype.Logical4:  logical[uint32](),
		datatype.Logical8:  logical[uint64](),
		datatype.Logical16: wideLogical,

		datatype.Float16:    soft(&softBinary16),
		datatype.Float32:    ordered[float32](),
		datatype.Float64:    ordered[float64](),
		datatype.LongDouble: soft(&softExtended),
		datatype.Float128:   soft(&softBinary128),

		datatype.Complex32:   softComplex(&softBinary16),
		datatype.Complex64:   number[complex64](),
		datatype.Complex128:  number[complex128](),
		datatype.LongComplex: softComplex(&softExtended),
		datatype.Complex256:  softComplex(&softBinary128),

		datatype.FloatInt:      located[float32, int32](),
		datatype.DoubleInt:     located[float64, int32](),
		datatype.LongInt:       located[int64, int32](),
		datatype.IntInt:        located[int32, int32](),
		datatype.ShortInt:      located[int16, int32](),
		datatype.FloatFloat:    located[float32, float32](),
		datatype.DoubleDouble:  located[float64, float64](),
		datatype.LongDoubleInt: softLocated(&softExtended),
	} {
		for op, f := range ops {
			t[op][k] = f
		}
	}
	return t
}
