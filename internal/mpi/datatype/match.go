package datatype

import (
	"fmt"
	"math"
)

// Class is a family of Fortran's numeric types. The values are the ABI's MPI_TYPECLASS_.
type Class int32

// The classes.
const (
	ClassInteger Class = 192 + iota
	ClassReal
	ClassComplex
)

// sized are the predefined types of a class by size: those that MPI_Type_match_size
// and the Fortran precisions choose from.
var sized = map[Class][]uintptr{
	ClassInteger: {0x2c1, 0x2c9, 0x2d1, 0x2d9, 0x2e1},
	ClassReal:    {0x2ca, 0x2d2, 0x2da, 0x2e2},
	ClassComplex: {0x2d3, 0x2db, 0x2e3, 0x2eb},
}

// MatchSize is the predefined type of a class whose size in bytes is size.
func MatchSize(c Class, size int64) (*Type, error) {
	handles, ok := sized[c]
	if !ok {
		return nil, fmt.Errorf("%w: typeclass is %d", ErrArgument, c)
	}
	for _, h := range handles {
		if t := Predefined(h); t.size == size {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%w: no type of this class has %d bytes", ErrArgument, size)
}

// Undefined, as a precision or range, means any. The value is the ABI's.
const Undefined = -32766

// realRanges are the decimal precisions and exponent ranges of gfortran's real
// kinds, from 4 bytes, and the predefined types that hold them.
var realRanges = []struct {
	precision, exponent int64
	real, complex       uintptr
}{
	{6, 37, 0x2d2, 0x2db},
	{15, 307, 0x2da, 0x2e3},
	{33, 4931, 0x2e2, 0x2eb},
}

// F90Real is the type of Fortran's selected_real_kind(p, r): decimal digits and
// exponent range, of which one may be Undefined.
func F90Real(p, r int64) (*Type, error) {
	i, err := selectReal(p, r)
	if err != nil {
		return nil, err
	}
	return selected(realRanges[i].real, CombinerF90Real, p, r), nil
}

// F90Complex is the complex type of such a kind.
func F90Complex(p, r int64) (*Type, error) {
	i, err := selectReal(p, r)
	if err != nil {
		return nil, err
	}
	return selected(realRanges[i].complex, CombinerF90Complex, p, r), nil
}

func selectReal(p, r int64) (int, error) {
	if p == Undefined && r == Undefined {
		return 0, fmt.Errorf("%w: precision and range are both undefined", ErrArgument)
	}
	for i, k := range realRanges {
		if p <= k.precision && r <= k.exponent {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: no real kind has %d digits and exponents to %d", ErrArgument, p, r)
}

// F90Integer is the type of Fortran's selected_int_kind(r): r decimal digits.
func F90Integer(r int64) (*Type, error) {
	for _, h := range sized[ClassInteger] {
		digits := int64(math.Floor(float64(8*Predefined(h).size-1) * math.Log10(2)))
		if r <= digits {
			return selected(h, CombinerF90Integer, r), nil
		}
	}
	return nil, fmt.Errorf("%w: no integer kind has %d digits", ErrArgument, r)
}

// selected is a predefined type that was chosen by precision.
func selected(handle uintptr, c Combiner, args ...int64) *Type {
	t := *Predefined(handle)
	t.made = Contents{Combiner: c, args: args}
	t.name, t.handle = "", 0
	return &t
}

// ValueIndex is the predefined pair of two predefined types, or nil if there is none.
func ValueIndex(value, index *Type) *Type {
	for _, p := range []struct{ value, index, pair uintptr }{
		{0x210, 0x209, 0x228}, // MPI_FLOAT, MPI_INT
		{0x214, 0x209, 0x229}, // MPI_DOUBLE, MPI_INT
		{0x20a, 0x209, 0x22a}, // MPI_LONG, MPI_INT
		{0x209, 0x209, 0x22b}, // MPI_INT, MPI_INT
		{0x208, 0x209, 0x22c}, // MPI_SHORT, MPI_INT
		{0x220, 0x209, 0x22d}, // MPI_LONG_DOUBLE, MPI_INT
		{0x21a, 0x21a, 0x230}, // MPI_REAL, MPI_REAL
		{0x21c, 0x21c, 0x231}, // MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION
		{0x219, 0x219, 0x232}, // MPI_INTEGER, MPI_INTEGER
	} {
		if value.handle == p.value && index.handle == p.index {
			return Predefined(p.pair)
		}
	}
	return nil
}
