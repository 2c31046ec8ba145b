package datatype

import "slices"

// predefined are the datatypes of the ABI, by handle. Of two names for one type it is the one that
// the standard's tables call no synonym (MPI-5.0, 3.2.2).
var predefined = []struct {
	handle uintptr
	name   string
	kind   Kind
}{
	{0x201, "MPI_AINT", Int64},
	{0x202, "MPI_COUNT", Int64},
	{0x203, "MPI_OFFSET", Int64},
	{0x207, "MPI_PACKED", Packed},
	{0x208, "MPI_SHORT", Int16},
	{0x209, "MPI_INT", Int32},
	{0x20a, "MPI_LONG", Long},
	{0x20b, "MPI_LONG_LONG_INT", Int64},
	{0x20c, "MPI_UNSIGNED_SHORT", Uint16},
	{0x20d, "MPI_UNSIGNED", Uint32},
	{0x20e, "MPI_UNSIGNED_LONG", UnsignedLong},
	{0x20f, "MPI_UNSIGNED_LONG_LONG", Uint64},
	{0x210, "MPI_FLOAT", Float32},
	{0x212, "MPI_C_COMPLEX", Complex64},
	{0x213, "MPI_CXX_FLOAT_COMPLEX", Complex64},
	{0x214, "MPI_DOUBLE", Float64},
	{0x216, "MPI_C_DOUBLE_COMPLEX", Complex128},
	{0x217, "MPI_CXX_DOUBLE_COMPLEX", Complex128},
	{0x218, "MPI_LOGICAL", Logical4},
	{0x219, "MPI_INTEGER", Int32},
	{0x21a, "MPI_REAL", Float32},
	{0x21b, "MPI_COMPLEX", Complex64},
	{0x21c, "MPI_DOUBLE_PRECISION", Float64},
	{0x21d, "MPI_DOUBLE_COMPLEX", Complex128},
	{0x21e, "MPI_CHARACTER", Character},
	{0x220, "MPI_LONG_DOUBLE", LongDouble},
	{0x224, "MPI_C_LONG_DOUBLE_COMPLEX", LongComplex},
	{0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", LongComplex},
	{0x228, "MPI_FLOAT_INT", FloatInt},
	{0x229, "MPI_DOUBLE_INT", DoubleInt},
	{0x22a, "MPI_LONG_INT", LongInt},
	{0x22b, "MPI_2INT", IntInt},
	{0x22c, "MPI_SHORT_INT", ShortInt},
	{0x22d, "MPI_LONG_DOUBLE_INT", LongDoubleInt},
	{0x230, "MPI_2REAL", FloatFloat},
	{0x231, "MPI_2DOUBLE_PRECISION", DoubleDouble},
	{0x232, "MPI_2INTEGER", IntInt},
	{0x238, "MPI_C_BOOL", Bool},
	{0x239, "MPI_CXX_BOOL", Bool},
	{0x23c, "MPI_WCHAR", WideChar},
	{0x240, "MPI_INT8_T", Int8},
	{0x241, "MPI_UINT8_T", Uint8},
	{0x243, "MPI_CHAR", Char},
	{0x244, "MPI_SIGNED_CHAR", Int8},
	{0x245, "MPI_UNSIGNED_CHAR", Uint8},
	{0x247, "MPI_BYTE", Byte},
	{0x248, "MPI_INT16_T", Int16},
	{0x249, "MPI_UINT16_T", Uint16},
	{0x250, "MPI_INT32_T", Int32},
	{0x251, "MPI_UINT32_T", Uint32},
	{0x258, "MPI_INT64_T", Int64},
	{0x259, "MPI_UINT64_T", Uint64},
	{0x2c0, "MPI_LOGICAL1", Logical1},
	{0x2c1, "MPI_INTEGER1", Int8},
	{0x2c8, "MPI_LOGICAL2", Logical2},
	{0x2c9, "MPI_INTEGER2", Int16},
	{0x2ca, "MPI_REAL2", Float16},
	{0x2d0, "MPI_LOGICAL4", Logical4},
	{0x2d1, "MPI_INTEGER4", Int32},
	{0x2d2, "MPI_REAL4", Float32},
	{0x2d3, "MPI_COMPLEX4", Complex32},
	{0x2d8, "MPI_LOGICAL8", Logical8},
	{0x2d9, "MPI_INTEGER8", Int64},
	{0x2da, "MPI_REAL8", Float64},
	{0x2db, "MPI_COMPLEX8", Complex64},
	{0x2e0, "MPI_LOGICAL16", Logical16},
	{0x2e1, "MPI_INTEGER16", Int128},
	{0x2e2, "MPI_REAL16", Float128},
	{0x2e3, "MPI_COMPLEX16", Complex128},
	{0x2eb, "MPI_COMPLEX32", Complex256},
}

// The handles of the ABI's datatypes lie between these.
const (
	firstHandle = 0x200
	lastHandle  = 0x2ff
)

// types are the predefined types by handle less firstHandle.
var types = makePredefined()

func makePredefined() (all [lastHandle - firstHandle + 1]*Type) {
	for _, p := range predefined {
		t := &Type{shape: ofPredefined(p.kind), made: Contents{Combiner: CombinerNamed}, name: p.name, handle: p.handle}
		t.lb, t.ub = t.bounds()
		all[p.handle-firstHandle] = t
	}
	return all
}

// ofPredefined is one element, or a pair with the layout of a C struct.
func ofPredefined(k Kind) shape {
	value, index, pair := k.Pair()
	if !pair {
		return ofKind(k)
	}
	var a arith
	gap := traits[value].size % traits[index].align
	if gap != 0 {
		gap = traits[index].align - gap
	}
	s := joined([]shape{ofKind(value), ofKind(index).moved(traits[value].size+gap, &a)}, &a)
	s.kind = k
	return s
}

// Predefined is the type of a handle of the ABI, or nil if there is none.
func Predefined(handle uintptr) *Type {
	if handle < firstHandle || handle > lastHandle {
		return nil
	}
	return types[handle-firstHandle]
}

// All are the predefined types, in the order of their handles.
func All() []*Type {
	return slices.DeleteFunc(slices.Clone(types[:]), func(t *Type) bool { return t == nil })
}
