package binding

import (
	"math"
	"testing"
	"unsafe"

	types "banyan/internal/mpi/datatype"
)

// makers make one type with each constructor, in both forms.
var makers = []struct {
	name     string
	combiner types.Combiner
	make     func(p *Process, wide bool, to *Datatype) Code
	// The envelope: integers, addresses, types, and in the large form integers and counts.
	integers, addresses, types, largeIntegers, counts int
}{
	{"dup", types.CombinerDup, func(p *Process, wide bool, to *Datatype) Code { return p.TypeDup(TypeInt, to) }, 0, 0, 1, 0, 0},
	{"contiguous", types.CombinerContiguous, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeContiguousC(3, TypeInt, to)
		}
		return p.TypeContiguous(3, TypeInt, to)
	}, 1, 0, 1, 0, 1},
	{"vector", types.CombinerVector, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeVectorC(3, 2, 5, TypeInt, to)
		}
		return p.TypeVector(3, 2, 5, TypeInt, to)
	}, 3, 0, 1, 0, 3},
	{"hvector", types.CombinerHvector, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeCreateHvectorC(3, 2, 20, TypeInt, to)
		}
		return p.TypeCreateHvector(3, 2, 20, TypeInt, to)
	}, 2, 1, 1, 0, 3},
	{"indexed", types.CombinerIndexed, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeIndexed(2, large(1, 2), large(0, 4), TypeInt, to)
		}
		return p.TypeIndexed(2, small(1, 2), small(0, 4), TypeInt, to)
	}, 5, 0, 1, 0, 5},
	{"hindexed", types.CombinerHindexed, func(p *Process, wide bool, to *Datatype) Code {
		lengths := small(1, 2)
		if wide {
			lengths = large(1, 2)
		}
		return p.TypeCreateHindexed(2, lengths, at([]int64{0, 16}), TypeInt, to)
	}, 3, 2, 1, 0, 5},
	{"indexed_block", types.CombinerIndexedBlock, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeCreateIndexedBlock(2, 2, large(0, 4), TypeInt, to)
		}
		return p.TypeCreateIndexedBlock(2, 2, small(0, 4), TypeInt, to)
	}, 4, 0, 1, 0, 4},
	{"hindexed_block", types.CombinerHindexedBlock, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeCreateHindexedBlockC(2, 2, at([]int64{0, 16}), TypeInt, to)
		}
		return p.TypeCreateHindexedBlock(2, 2, at([]int64{0, 16}), TypeInt, to)
	}, 2, 2, 1, 0, 4},
	{"struct", types.CombinerStruct, func(p *Process, wide bool, to *Datatype) Code {
		lengths := small(1, 2)
		if wide {
			lengths = large(1, 2)
		}
		return p.TypeCreateStruct(2, lengths, at([]int64{0, 8}), at([]Datatype{TypeInt, TypeDouble}), to)
	}, 3, 2, 2, 0, 5},
	{"resized", types.CombinerResized, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeCreateResizedC(TypeInt, -4, 16, to)
		}
		return p.TypeCreateResized(TypeInt, -4, 16, to)
	}, 0, 2, 1, 0, 2},
	{"subarray", types.CombinerSubarray, func(p *Process, wide bool, to *Datatype) Code {
		if wide {
			return p.TypeCreateSubarray(2, large(4, 5), large(2, 3), large(1, 1), OrderC, TypeInt, to)
		}
		return p.TypeCreateSubarray(2, small(4, 5), small(2, 3), small(1, 1), OrderC, TypeInt, to)
	}, 8, 0, 1, 2, 6},
	{"darray", types.CombinerDarray, func(p *Process, wide bool, to *Datatype) Code {
		sizes := small(8, 6)
		if wide {
			sizes = large(8, 6)
		}
		return p.TypeCreateDarray(2, 1, 2, sizes, at([]int32{DistributeBlock, DistributeNone}), at([]int32{DistributeDfltDarg, DistributeDfltDarg}),
			at([]int32{2, 1}), OrderFortran, TypeInt, to)
	}, 12, 0, 1, 10, 2},
	{"f90_real", types.CombinerF90Real, func(p *Process, wide bool, to *Datatype) Code { return p.TypeCreateF90Real(10, 200, to) }, 2, 0, 0, 2, 0},
	{"f90_complex", types.CombinerF90Complex, func(p *Process, wide bool, to *Datatype) Code { return p.TypeCreateF90Complex(10, 200, to) }, 2, 0, 0, 2, 0},
	{"f90_integer", types.CombinerF90Integer, func(p *Process, wide bool, to *Datatype) Code { return p.TypeCreateF90Integer(9, to) }, 1, 0, 0, 1, 0},
}

// TestConstructors makes a type with each constructor in both forms, reads its contents, makes
// it again from these where a common way exists, and frees it.
func TestConstructors(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		for _, m := range makers {
			for _, wide := range []bool{false, true} {
				var d Datatype
				ok(t, m.name, m.make(p, wide, &d))
				combiner, integers, addresses, counts, contained := contentsOf(t, p, d)
				wantI, wantA, wantC := m.integers, m.addresses, 0
				if wide {
					wantI, wantA, wantC = m.largeIntegers, 0, m.counts
				}
				if types.Combiner(combiner) != m.combiner || len(integers) != wantI || len(addresses) != wantA || len(counts) != wantC || len(contained) != m.types {
					t.Errorf("%s, wide %v: combiner %d with %v, %v, %v, %v", m.name, wide, combiner, integers, addresses, counts, contained)
				}
				if m.types > 0 && contained[0] != TypeInt {
					t.Errorf("%s is of %#x", m.name, contained[0])
				}
				var n, k [4]int32
				plain := p.TypeGetEnvelope(d, &n[0], &n[1], &n[2], &n[3])
				if wantC > 0 && plain != ErrType {
					t.Errorf("%s with large counts: the plain envelope gives %d", m.name, plain)
				}
				if wantC == 0 && (plain != Success || int(n[0]) != wantI || int(n[1]) != wantA || int(n[2]) != m.types || types.Combiner(n[3]) != m.combiner) {
					t.Errorf("%s: envelope %v, %d", m.name, n, plain)
				}
				if wantI > 0 && p.TypeGetContents(d, 0, 9, 9, &k[0], nil, nil) != map[bool]Code{false: ErrArg, true: ErrType}[wantC > 0] {
					t.Errorf("%s: contents without room for integers", m.name)
				}
				f := d
				if m.types == 0 { // chosen by precision: predefined, one handle for all
					var again Datatype
					m.make(p, wide, &again)
					if again != d || p.TypeFree(&f) != ErrType {
						t.Errorf("%s: %#x again is %#x, or can be freed", m.name, d, again)
					}
					continue
				}
				ok(t, "TypeFree", p.TypeFree(&f))
				var size int32
				if f != DatatypeNull || p.TypeSize(d, CountOut{unsafe.Pointer(&size), false}) != ErrType {
					t.Errorf("%s is there after it was freed", m.name)
				}
			}
		}
		if p.datatypes.made.used > 8 {
			t.Errorf("%d entries are in use, though each type was freed", p.datatypes.made.used)
		}
	})
}

// contentsOf reads a type's contents: how it was made.
func contentsOf(t *testing.T, p *Process, d Datatype) (combiner int32, integers []int32, addresses, counts []int64, contained []Datatype) {
	var ni, na, nc, nd int64
	ok(t, "TypeGetEnvelopeC", p.TypeGetEnvelopeC(d, &ni, &na, &nc, &nd, &combiner))
	integers, addresses, counts, contained = make([]int32, ni), make([]int64, na), make([]int64, nc), make([]Datatype, nd)
	ok(t, "TypeGetContentsC", p.TypeGetContentsC(d, ni, na, nc, nd, at(integers), at(addresses), at(counts), at(contained)))
	return combiner, integers, addresses, counts, contained
}

// TestContentsAreTypes checks that the types in the contents may be used and freed on their
// own.
func TestContentsAreTypes(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var inner, outer, kind Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(3, TypeShort, &inner))
		ok(t, "TypeVector", p.TypeVector(2, 1, 4, inner, &outer))
		ok(t, "TypeFree", p.TypeFree(&inner))
		_, _, _, _, contained := contentsOf(t, p, outer)
		ok(t, "TypeFree", p.TypeFree(&outer))
		var lb, extent int64
		ok(t, "TypeGetExtent", p.TypeGetExtent(contained[0], &lb, &extent))
		if extent != 6 {
			t.Errorf("the inner type has extent %d, want 6", extent)
		}
		ok(t, "TypeFree", p.TypeFree(&contained[0]))

		ok(t, "TypeCreateF90Integer", p.TypeCreateF90Integer(4, &kind))
		ok(t, "TypeDup", p.TypeDup(kind, &outer))
		if _, _, _, _, contained = contentsOf(t, p, outer); contained[0] != kind {
			t.Errorf("a duplicate is of %#x, want %#x", contained[0], kind)
		}
	})
}

func TestTypeArguments(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var d, derived Datatype
		var i int32
		var n int64
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &derived))
		freed, predefined := derived, TypeInt
		ok(t, "TypeFree", p.TypeFree(&derived))
		two := []Datatype{TypeInt, DatatypeNull}
		buf := make([]byte, 64)
		b := unsafe.Pointer(&buf[0])
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &derived))
		pos := int32(0)
		position := CountOut{unsafe.Pointer(&pos), false}
		for what, c := range map[string]struct{ got, want Code }{
			"null type":              {p.TypeContiguous(1, DatatypeNull, &d), ErrType},
			"freed type":             {p.TypeContiguous(1, freed, &d), ErrType},
			"communicator as type":   {p.TypeContiguous(1, Datatype(CommWorld), &d), ErrType},
			"negative count":         {p.TypeContiguous(-1, TypeInt, &d), ErrCount},
			"negative length":        {p.TypeVector(1, -1, 1, TypeInt, &d), ErrCount},
			"negative list":          {p.TypeIndexed(-1, small(), small(), TypeInt, &d), ErrCount},
			"null array":             {p.TypeIndexed(1, small(), small(1), TypeInt, &d), ErrArg},
			"null types":             {p.TypeCreateStruct(1, small(1), at([]int64{0}), nil, &d), ErrArg},
			"null type in a struct":  {p.TypeCreateStruct(2, small(1, 1), at([]int64{0, 4}), at(two), &d), ErrType},
			"too large":              {p.TypeContiguousC(math.MaxInt64, TypeInt, &d), ErrValueTooLarge},
			"order":                  {p.TypeCreateSubarray(1, small(4), small(2), small(0), 99, TypeInt, &d), ErrArg},
			"subarray":               {p.TypeCreateSubarray(1, small(4), small(2), small(3), OrderC, TypeInt, &d), ErrArg},
			"grid":                   {p.TypeCreateDarray(4, 1, 1, small(8), at([]int32{DistributeBlock}), at([]int32{1}), at([]int32{2}), OrderC, TypeInt, &d), ErrArg},
			"precision":              {p.TypeCreateF90Real(1000, 1, &d), ErrArg},
			"class":                  {p.TypeMatchSize(1, 4, &d), ErrArg},
			"size":                   {p.TypeMatchSize(TypeclassReal, 5, &d), ErrArg},
			"free predefined":        {p.TypeFree(&predefined), ErrType},
			"contents of predefined": {p.TypeGetContents(TypeInt, 1, 1, 1, &i, &n, &d), ErrType},
			"pack uncommitted":       {p.Pack(b, 1, derived, b, 64, position, CommWorld), ErrType},
			"pack without room":      {p.Pack(b, 3, TypeInt, b, 11, position, CommWorld), ErrTruncate},
			"pack to null":           {p.Pack(b, 1, TypeInt, nil, 11, position, CommWorld), ErrBuffer},
			"pack from null":         {p.Pack(nil, 1, TypeInt, b, 11, position, CommWorld), ErrBuffer},
			"pack in place":          {p.Pack(InPlace, 1, TypeInt, b, 11, position, CommWorld), ErrBuffer},
			"pack on null":           {p.Pack(b, 1, TypeInt, b, 64, position, CommNull), ErrComm},
			"pack too much":          {p.Pack(b, 1<<62, TypeInt, b, 64, position, CommWorld), ErrCount},
			"pack negative":          {p.Pack(b, -1, TypeInt, b, 64, position, CommWorld), ErrCount},
			"pack in no size":        {p.Pack(b, 1, TypeInt, b, -1, position, CommWorld), ErrArg},
			"unpack too much":        {p.Unpack(b, 3, position, b, 1, TypeInt, CommWorld), ErrTruncate},
			"external64":             {p.PackExternalSize(at([]byte("external64\x00")), 1, TypeInt, &n), ErrUnsupportedDatarep},
			"size of too much":       {p.PackSize(1<<30, TypeInt, CommWorld, CountOut{unsafe.Pointer(&i), false}), ErrValueTooLarge},
			"elements of ignore":     {p.GetElements(nil, TypeInt, CountOut{unsafe.Pointer(&i), false}), ErrArg},
			"negative elements":      {p.StatusSetElements(&Status{}, TypeInt, -1), ErrCount},
		} {
			if c.got != c.want {
				t.Errorf("%s: %d (%s), want %s", what, c.got, classes[c.got][0], classes[c.want][0])
			}
		}
		if pos != 0 {
			t.Errorf("errors moved the position to %d", pos)
		}
	})
}
