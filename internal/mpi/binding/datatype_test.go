package binding

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	types "banyan/internal/mpi/datatype"
)

// alone runs f as a job of one rank that gets errors as codes.
func alone(t *testing.T, f func(t *testing.T, p *Process)) {
	t.Helper()
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		f(t, p)
	})
}

// small and large are arrays as MPI_X and MPI_X_c have them.
func small(s ...int32) Counts { return Counts{unsafe.Pointer(unsafe.SliceData(s)), false} }
func large(s ...int64) Counts { return Counts{unsafe.Pointer(unsafe.SliceData(s)), true} }

func at[T any](s []T) *T { return unsafe.SliceData(s) }

// makers make one type with each constructor, in both forms.
var makers = []struct {
	name     string
	combiner types.Combiner
	make     func(p *Process, wide bool, to *Datatype) Code
	// What the envelope says: integers, addresses, types, and in the large form integers, counts.
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

// TestConstructors makes a type of each kind in both forms, reads how it was made, makes it
// anew from that where that can be done alike, and frees it.
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
				if m.types == 0 { // by precision: predefined, one for all
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
			t.Errorf("%d places are in use, though each type was freed", p.datatypes.made.used)
		}
	})
}

// contentsOf reads how a type was made.
func contentsOf(t *testing.T, p *Process, d Datatype) (combiner int32, integers []int32, addresses, counts []int64, contained []Datatype) {
	var ni, na, nc, nd int64
	ok(t, "TypeGetEnvelopeC", p.TypeGetEnvelopeC(d, &ni, &na, &nc, &nd, &combiner))
	integers, addresses, counts, contained = make([]int32, ni), make([]int64, na), make([]int64, nc), make([]Datatype, nd)
	ok(t, "TypeGetContentsC", p.TypeGetContentsC(d, ni, na, nc, nd, at(integers), at(addresses), at(counts), at(contained)))
	return combiner, integers, addresses, counts, contained
}

// TestContentsAreTypes says that the types in the contents may be used and freed on
// their own.
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

func TestTypeNames(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		name := make([]byte, MaxObjectName)
		expect := func(d Datatype, want string) {
			t.Helper()
			var n int32
			ok(t, "TypeGetName", p.TypeGetName(d, &name[0], &n))
			if got := goString(&name[0]); got != want || int(n) != len(want) {
				t.Errorf("name %q of %d, want %q", got, n, want)
			}
		}
		var d Datatype
		ok(t, "TypeDup", p.TypeDup(TypeDouble, &d))
		expect(TypeDouble, "MPI_DOUBLE")
		expect(d, "")
		ok(t, "TypeSetName", p.TypeSetName(d, at([]byte("row\x00"))))
		expect(d, "row")
		ok(t, "TypeSetName", p.TypeSetName(d, at([]byte(strings.Repeat("x", 200)+"\x00"))))
		expect(d, strings.Repeat("x", MaxObjectName-1))
	})
}

// TestPacking packs different things into one buffer, and takes them out again.
func TestPacking(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var column Datatype
		ok(t, "TypeVector", p.TypeVector(3, 1, 4, TypeInt, &column))
		ok(t, "TypeCommit", p.TypeCommit(&column))
		matrix := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
		packed := make([]byte, 64)
		buf := unsafe.Pointer(&packed[0])
		var pos, size int32
		position, sizeOut := CountOut{unsafe.Pointer(&pos), false}, CountOut{unsafe.Pointer(&size), false}
		ok(t, "PackSize", p.PackSize(1, column, CommWorld, sizeOut))
		ok(t, "Pack", p.Pack(unsafe.Pointer(&matrix[1]), 1, column, buf, 64, position, CommWorld))
		if pos != 12 || size != 12 {
			t.Errorf("a column has %d bytes, its size is %d", pos, size)
		}
		ok(t, "Pack", p.Pack(unsafe.Pointer(at([]byte("abc"))), 3, TypeChar, buf, 64, position, CommWorld))
		if want := append([]byte{1, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0}, "abc"...); pos != 15 || !bytes.Equal(packed[:15], want) {
			t.Errorf("packed to %d: %v", pos, packed[:15])
		}
		back, text := make([]int32, 12), make([]byte, 3)
		pos = 0
		ok(t, "Unpack", p.Unpack(buf, 15, position, unsafe.Pointer(&back[2]), 1, column, CommWorld))
		ok(t, "Unpack", p.Unpack(buf, 15, position, unsafe.Pointer(&text[0]), 3, TypeChar, CommWorld))
		if !slices.Equal(back, []int32{0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9, 0}) || string(text) != "abc" || pos != 15 {
			t.Errorf("unpacked to %d: %v, %q", pos, back, text)
		}

		datarep := at([]byte("external32\x00"))
		var external, where int64
		ok(t, "PackExternalSize", p.PackExternalSize(datarep, 2, TypeLong, &external))
		longs := []int64{1, -2}
		ok(t, "PackExternal", p.PackExternal(datarep, unsafe.Pointer(&longs[0]), 2, TypeLong, buf, 64, &where))
		if external != 8 || where != 8 || !bytes.Equal(packed[:8], []byte{0, 0, 0, 1, 255, 255, 255, 254}) {
			t.Errorf("external32 of %d bytes, to %d: %v", external, where, packed[:8])
		}
		where = 4
		one := []int64{0}
		ok(t, "UnpackExternal", p.UnpackExternal(datarep, buf, 8, &where, unsafe.Pointer(&one[0]), 1, TypeLong))
		if one[0] != -2 || where != 8 {
			t.Errorf("back is %d, to %d", one[0], where)
		}
		if code := p.UnpackExternal(datarep, buf, 8, &where, unsafe.Pointer(&one[0]), 1, TypeLong); code != ErrTruncate {
			t.Errorf("unpacking more than there is gives %d", code)
		}
	})
}

func TestCounting(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var pair, nothing Datatype
		ok(t, "TypeCreateStruct", p.TypeCreateStruct(2, small(1, 1), at([]int64{0, 8}), at([]Datatype{TypeInt, TypeDouble}), &pair))
		ok(t, "TypeContiguous", p.TypeContiguous(0, TypeInt, &nothing))
		var s Status
		for _, c := range []struct {
			d               Datatype
			bytes           int64
			count, elements int32
		}{
			{TypeInt, 12, 3, 3}, {TypeInt, 13, Undefined, Undefined}, {pair, 24, 2, 4}, {pair, 16, Undefined, 3}, {pair, 17, Undefined, Undefined},
			{nothing, 0, 0, 0}, {nothing, 1, Undefined, Undefined}, {TypeByte, 1 << 33, Undefined, Undefined}, {TypeDoubleInt, 20, Undefined, 3},
		} {
			s.SetBytes(c.bytes)
			var count, elements int32
			ok(t, "GetCount", p.GetCount(&s, c.d, CountOut{unsafe.Pointer(&count), false}))
			ok(t, "GetElements", p.GetElements(&s, c.d, CountOut{unsafe.Pointer(&elements), false}))
			if count != c.count || elements != c.elements {
				t.Errorf("%d bytes of %#x: count %d, elements %d, want %d, %d", c.bytes, c.d, count, elements, c.count, c.elements)
			}
		}
		var wide int64
		s.SetBytes(1 << 33)
		ok(t, "GetCount", p.GetCount(&s, TypeByte, CountOut{unsafe.Pointer(&wide), true}))
		if wide != 1<<33 {
			t.Errorf("a large count is %d", wide)
		}
		ok(t, "StatusSetElements", p.StatusSetElements(&s, pair, 3))
		if s.Bytes() != 16 {
			t.Errorf("3 elements have %d bytes", s.Bytes())
		}
	})
}

// TestData says what a message is made of: the program's memory where it can be,
// otherwise a copy that goes back to where it came from.
func TestData(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var column Datatype
		ok(t, "TypeVector", p.TypeVector(2, 1, 2, TypeInt, &column))
		ok(t, "TypeCommit", p.TypeCommit(&column))
		memory := []int32{1, 2, 3, 4}
		buf := unsafe.Pointer(&memory[0])
		d, code := p.outgoing(nil, "test", buf, 4, TypeInt)
		if code != Success || unsafe.Pointer(&d.bytes[0]) != buf || len(d.bytes) != 16 {
			t.Error("contiguous data is copied")
		}
		d, code = p.outgoing(nil, "test", buf, 1, column)
		if code != Success || !bytes.Equal(d.bytes, []byte{1, 0, 0, 0, 3, 0, 0, 0}) {
			t.Errorf("a column is %v", d.bytes)
		}
		d.release()
		d, code = p.incoming(nil, "test", buf, 1, column)
		if code != Success || len(d.bytes) != 8 {
			t.Errorf("a column has %d bytes", len(d.bytes))
		}
		copy(d.bytes, []byte{9, 0, 0, 0})
		d.unpack(4)
		d.release()
		if !slices.Equal(memory, []int32{9, 2, 3, 4}) {
			t.Errorf("after half a column: %v", memory)
		}
		if d, code = p.outgoing(nil, "test", nil, 0, TypeInt); code != Success || len(d.bytes) != 0 {
			t.Error("no data at no address is an error")
		}
		if n := testing.AllocsPerRun(100, func() {
			d, _ := p.outgoing(nil, "test", buf, 4, TypeInt)
			d.release()
			d, _ = p.outgoing(nil, "test", buf, 1, column)
			d.release()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestValueIndex(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var d Datatype
		ok(t, "TypeGetValueIndex", p.TypeGetValueIndex(TypeDouble, TypeInt, &d))
		if d != TypeDoubleInt {
			t.Errorf("double and int are %#x", d)
		}
		ok(t, "TypeGetValueIndex", p.TypeGetValueIndex(TypeDouble, TypeDouble, &d))
		if d != DatatypeNull {
			t.Errorf("double and double are %#x", d)
		}
		ok(t, "TypeMatchSize", p.TypeMatchSize(TypeclassComplex, 8, &d))
		if d != TypeComplex8 {
			t.Errorf("complex of 8 bytes is %#x", d)
		}
	})
}

// TestTypeAttributes says that a duplicate gets the attributes that their copy function wants,
// and that a type which is freed deletes its own.
func TestTypeAttributes(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var key int32
		var deleted []uintptr
		copyFn := copyFunction(func(object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, Code) {
			if value == 17 {
				return 0, false, ErrOther
			}
			return value + extra, value != 13, Success
		})
		deleteFn := deleteFunction(func(object uintptr, keyval int32, value, extra uintptr) Code {
			deleted = append(deleted, value)
			if value == 99 {
				return ErrOther
			}
			return Success
		})
		ok(t, "TypeCreateKeyval", p.TypeCreateKeyval(function(copyFn), function(deleteFn), &key, 100))
		var d, dup Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &d))
		expect := func(d Datatype, want uintptr) {
			t.Helper()
			var value uintptr
			var flag int32
			ok(t, "TypeGetAttr", p.TypeGetAttr(d, key, unsafe.Pointer(&value), &flag))
			if value != want || (flag != 0) != (want != 0) {
				t.Errorf("attribute %d, %d, want %d", value, flag, want)
			}
		}
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 5))
		expect(d, 5)
		ok(t, "TypeDup", p.TypeDup(d, &dup))
		expect(dup, 105)
		ok(t, "TypeFree", p.TypeFree(&dup))
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 13))
		ok(t, "TypeDup", p.TypeDup(d, &dup))
		expect(dup, 0)
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 17))
		if code := p.TypeDup(d, &dup); code == Success || dup != DatatypeNull {
			t.Errorf("a type is duplicated, as %#x, though its attribute isn't: %d", dup, code)
		}
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 99))
		if code := p.TypeFree(&d); code == Success || d == DatatypeNull {
			t.Errorf("a type is freed though its attribute isn't: %d", code)
		}
		if !slices.Equal(deleted, []uintptr{105, 5, 13, 17, 99}) {
			t.Errorf("deleted %v", deleted)
		}
	})
}
