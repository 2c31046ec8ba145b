package datatype

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"banyan/abi"

	"pgregory.net/rapid"
)

func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	return t
}

var (
	theInt    = Predefined(0x209)
	theDouble = Predefined(0x214)
	theByte   = Predefined(0x247)
	theChar   = Predefined(0x243)
)

// TestPredefined compares the table with the ABI's: names, handles, and the size that the ABI
// encodes in the handles of types with a fixed size.
func TestPredefined(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	// Of these pairs the ABI has the handle under the name that the standard calls a synonym.
	primary := map[string]string{"MPI_LONG_LONG": "MPI_LONG_LONG_INT", "MPI_C_FLOAT_COMPLEX": "MPI_C_COMPLEX"}
	for _, c := range table.Constants {
		if synonym := c.Value; primary[synonym] != "" && primary[synonym] != c.Name {
			t.Errorf("%s is %s, too", synonym, c.Name)
		}
	}
	seen := map[uintptr]bool{}
	for _, c := range table.Constants {
		value, ok := strings.CutPrefix(c.Value, "((MPI_Datatype)")
		if !ok || c.Name == "MPI_DATATYPE_NULL" {
			continue
		}
		h, err := strconv.ParseUint(strings.TrimSuffix(value, ")"), 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		p, name := Predefined(uintptr(h)), c.Name
		if first, is := primary[name]; is {
			name = first
		}
		if p == nil || p.Name() != name || p.Handle() != uintptr(h) {
			t.Errorf("%s, %#x, is missing", c.Name, h)
			continue
		}
		seen[uintptr(h)] = true
		if h&0x240 == 0x240 {
			if want := int64(1) << (h >> 3 & 7); p.Size() != want {
				t.Errorf("%s has %d bytes, want %d", c.Name, p.Size(), want)
			}
		}
	}
	for _, p := range All() {
		if !seen[p.Handle()] {
			t.Errorf("%s isn't in the ABI", p.Name())
		}
	}
	for _, h := range []uintptr{0, 0x1ff, 0x200, 0x204, 0x300, math.MaxUint} {
		if Predefined(h) != nil {
			t.Errorf("%#x is a type", h)
		}
	}
}

// TestLayoutAsC compares sizes and extents with C's sizeof on x86-64.
func TestLayoutAsC(t *testing.T) {
	for _, w := range []struct {
		handle       uintptr
		size, extent int64
	}{
		{0x208, 2, 2}, {0x20a, 8, 8}, {0x220, 16, 16}, {0x224, 32, 32}, {0x23c, 4, 4},
		{0x228, 8, 8}, {0x229, 12, 16}, {0x22a, 12, 16}, {0x22b, 8, 8}, {0x22c, 6, 8}, {0x22d, 20, 32}, {0x231, 16, 16},
	} {
		p := Predefined(w.handle)
		if _, extent := p.Extent(); p.Size() != w.size || extent != w.extent {
			t.Errorf("%s: size %d, extent %d, want %d, %d", p.Name(), p.Size(), extent, w.size, w.extent)
		}
	}
	s := must(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{theDouble, theChar}))
	if lb, extent := s.Extent(); lb != 0 || extent != 16 {
		t.Errorf("struct {double; char}: %d, %d, want 0, 16", lb, extent)
	}
}

// TestNormalForms checks which types are as fast as simpler ones.
func TestNormalForms(t *testing.T) {
	column := must(Vector(10, 1, 10, theDouble))
	for _, c := range []struct {
		name string
		t    *Type
		want string
	}{
		{"contiguous of contiguous", must(Contiguous(3, must(Contiguous(4, theInt)))), "48"},
		{"vector without gaps", must(Vector(5, 3, 3, theInt)), "60"},
		{"vector of contiguous", must(Vector(5, 1, 3, must(Contiguous(2, theInt)))), "5×24(8)"},
		{"hvector of vector", must(Hvector(4, 1, 800, column)), "40×80(8)"},
		{"columns", must(Hvector(4, 1, 8, column)), "4×8(10×80(8))"},
		{"indexed with constant steps", must(Indexed([]int64{2, 2, 2}, []int64{0, 4, 8}, theInt)), "3×16(8)"},
		{"indexed whose blocks touch", must(Indexed([]int64{2, 1, 2}, []int64{0, 2, 3}, theInt)), "20"},
		{"indexed", must(Indexed([]int64{1, 1, 1}, []int64{5, 2, 3}, theInt)), "20+[0:4 -12:8]"},
		{"struct without gaps", must(Struct([]int64{1, 2}, []int64{0, 4}, []*Type{theInt, theInt})), "12"},
		{"struct of kinds without gaps", must(Struct([]int64{2, 1}, []int64{0, 8}, []*Type{theInt, theDouble})), "16"},
		{"array of structs", must(Contiguous(9, must(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{theInt, theDouble})))), "9×16([0:4 8:8])"},
		{"struct of structs", must(Struct([]int64{1, 1}, []int64{0, 16},
			[]*Type{must(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{theInt, theDouble})), theInt})), "[0:4 8:12]"},
		{"nothing", must(Vector(0, 3, 5, theInt)), "-"},
	} {
		if got := describe(c.t.bytes); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// describe writes a tree down: runs as their size, loops as count×stride(child).
func describe(p placed) string {
	if p.node == nil {
		return "-"
	}
	s := ""
	switch n := p.node; n.form {
	case run:
		s = strconv.FormatInt(n.size, 10)
	case loop:
		s = strconv.FormatInt(n.count, 10) + "×" + strconv.FormatInt(n.stride, 10) + "(" + describe(placed{0, n.child}) + ")"
	case list:
		var items []string
		for _, it := range n.items {
			items = append(items, strconv.FormatInt(it.disp, 10)+":"+describe(placed{0, it.node}))
		}
		s = "[" + strings.Join(items, " ") + "]"
	}
	if p.disp != 0 {
		s = strconv.FormatInt(p.disp, 10) + "+" + s
	}
	return s
}

// TestSharedNodesStay checks that making a type doesn't change the types that it is made of.
func TestSharedNodesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 3)
		before := describe(d.t.bytes) + describe(d.t.typed)
		must(Struct([]int64{1, 2, 1}, []int64{0, d.n.extent(), 7}, []*Type{d.t, d.t, theInt}))
		must(Indexed([]int64{1, 1, 2}, []int64{0, 1, 2}, d.t))
		if after := describe(d.t.bytes) + describe(d.t.typed); before != after {
			t.Fatalf("%s became %s", before, after)
		}
	})
}

func TestRefused(t *testing.T) {
	huge := must(Contiguous(1<<58, theInt))
	for name, c := range map[string]struct{ err, want error }{
		"count":         {second(Contiguous(-1, theInt)), ErrCount},
		"vector":        {second(Vector(-1, 1, 1, theInt)), ErrCount},
		"blocklength":   {second(Vector(1, -1, 1, theInt)), ErrCount},
		"hvector":       {second(Hvector(1, -1, 1, theInt)), ErrCount},
		"indexed":       {second(Indexed([]int64{1, -1}, []int64{0, 0}, theInt)), ErrCount},
		"block":         {second(IndexedBlock(-1, []int64{0}, theInt)), ErrCount},
		"struct":        {second(Struct([]int64{-1}, []int64{0}, []*Type{theInt})), ErrCount},
		"too large":     {second(Contiguous(math.MaxInt64, theInt)), ErrTooLarge},
		"product":       {second(Contiguous(1<<40, huge)), ErrTooLarge},
		"stride":        {second(Vector(2, 1, math.MaxInt64, theInt)), ErrTooLarge},
		"far":           {second(Hvector(math.MaxInt64, 1, math.MinInt64, theInt)), ErrTooLarge},
		"displacement":  {second(Hindexed([]int64{1}, []int64{math.MinInt64}, theInt)), ErrTooLarge},
		"displacements": {second(Indexed([]int64{1}, []int64{math.MaxInt64 / 2}, theInt)), ErrTooLarge},
		"sum":           {second(Struct([]int64{1, 1, 1, 1, 1}, []int64{0, 0, 0, 0, 0}, []*Type{huge, huge, huge, huge, huge})), ErrTooLarge},
		"resized":       {second(Resized(theInt, math.MaxInt64, math.MaxInt64)), ErrTooLarge},
		"extent":        {second(Resized(theInt, -1<<62, math.MaxInt64)), ErrTooLarge},
		"array":         {second(Subarray([]int64{1 << 40, 1 << 40}, []int64{1, 1}, []int64{0, 0}, OrderC, theInt)), ErrTooLarge},
		"class":         {second(MatchSize(5, 4)), ErrArgument},
		"no such size":  {second(MatchSize(ClassReal, 3)), ErrArgument},
		"digits":        {second(F90Real(99, 1)), ErrArgument},
		"undefined":     {second(F90Complex(Undefined, Undefined)), ErrArgument},
		"range":         {second(F90Integer(99)), ErrArgument},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

// TestHugeTypes checks that a type needs memory for its description only.
func TestHugeTypes(t *testing.T) {
	row := must(Vector(1<<30, 1, 2, theInt))
	plane := must(Vector(1<<20, 1, 3, row))
	if plane.Size() != 1<<52 || plane.elements != 1<<50 {
		t.Fatalf("size %d, elements %d", plane.Size(), plane.elements)
	}
	if n, ok := plane.ElementsIn(1<<52 - 4); !ok || n != 1<<50-1 {
		t.Fatalf("all but one are %d", n)
	}
	if _, ok := plane.Bytes(1 << 12); ok {
		t.Fatal("2^64 bytes are a size")
	}
}

// TestEmptyBlocks checks that the displacement of an empty block may be anything.
func TestEmptyBlocks(t *testing.T) {
	lengths, at := []int64{0, 4, 0}, []int64{math.MaxInt64, 8, math.MinInt64}
	for _, typ := range []*Type{
		must(Hindexed(lengths, at, theInt)), must(Indexed(lengths, []int64{math.MaxInt64, 2, math.MinInt64}, theInt)),
		must(Struct(lengths, at, []*Type{theDouble, theInt, theDouble})), must(HindexedBlock(4, []int64{8}, theInt)),
	} {
		if lb, extent := typ.Extent(); lb != 8 || extent != 16 {
			t.Errorf("bounds %d, %d", lb, lb+extent)
		}
	}
	must(IndexedBlock(0, []int64{math.MaxInt64}, theInt))
}

func TestContents(t *testing.T) {
	two := []*Type{theInt, theDouble}
	grid := Grid{Size: 2, Rank: 1, Sizes: []int64{4, 6}, Distributions: []Distribution{DistributeBlock, DistributeNone},
		Arguments: []int64{DefaultArgument, DefaultArgument}, Processes: []int64{2, 1}, Order: OrderC}
	for _, c := range []struct {
		t                      *Type
		combiner               Combiner
		types                  int
		integers, addresses    []int64
		largeIntegers, largeCs []int64
	}{
		{theInt, CombinerNamed, 0, nil, nil, nil, nil},
		{Dup(theInt), CombinerDup, 1, nil, nil, nil, nil},
		{must(Contiguous(7, theInt)), CombinerContiguous, 1, []int64{7}, nil, nil, []int64{7}},
		{must(Vector(2, 3, 4, theInt)), CombinerVector, 1, []int64{2, 3, 4}, nil, nil, []int64{2, 3, 4}},
		{must(Hvector(2, 3, 40, theInt)), CombinerHvector, 1, []int64{2, 3}, []int64{40}, nil, []int64{2, 3, 40}},
		{must(Indexed([]int64{1, 2}, []int64{8, 9}, theInt)), CombinerIndexed, 1, []int64{2, 1, 2, 8, 9}, nil, nil, []int64{2, 1, 2, 8, 9}},
		{must(Hindexed([]int64{1, 2}, []int64{8, 90}, theInt)), CombinerHindexed, 1, []int64{2, 1, 2}, []int64{8, 90}, nil, []int64{2, 1, 2, 8, 90}},
		{must(IndexedBlock(5, []int64{8, 19}, theInt)), CombinerIndexedBlock, 1, []int64{2, 5, 8, 19}, nil, nil, []int64{2, 5, 8, 19}},
		{must(HindexedBlock(5, []int64{8, 90}, theInt)), CombinerHindexedBlock, 1, []int64{2, 5}, []int64{8, 90}, nil, []int64{2, 5, 8, 90}},
		{must(Struct([]int64{1, 2}, []int64{0, 8}, two)), CombinerStruct, 2, []int64{2, 1, 2}, []int64{0, 8}, nil, []int64{2, 1, 2, 0, 8}},
		{must(Resized(theInt, -4, 16)), CombinerResized, 1, nil, []int64{-4, 16}, nil, []int64{-4, 16}},
		{must(Subarray([]int64{4, 5}, []int64{2, 3}, []int64{1, 2}, OrderFortran, theInt)), CombinerSubarray, 1,
			[]int64{2, 4, 5, 2, 3, 1, 2, 15}, nil, []int64{2, 15}, []int64{4, 5, 2, 3, 1, 2}},
		{must(Darray(grid, theInt)), CombinerDarray, 1, []int64{2, 1, 2, 4, 6, 17, 16, 19, 19, 2, 1, 12}, nil,
			[]int64{2, 1, 2, 17, 16, 19, 19, 2, 1, 12}, []int64{4, 6}},
		{must(F90Real(10, 100)), CombinerF90Real, 0, []int64{10, 100}, nil, []int64{10, 100}, nil},
		{must(F90Complex(5, Undefined)), CombinerF90Complex, 0, []int64{5, Undefined}, nil, []int64{5, Undefined}, nil},
		{must(F90Integer(9)), CombinerF90Integer, 0, []int64{9}, nil, []int64{9}, nil},
	} {
		m := c.t.Made()
		if m.Combiner != c.combiner || len(m.Types) != c.types {
			t.Errorf("combiner %d with %d types, want %d with %d", m.Combiner, len(m.Types), c.combiner, c.types)
		}
		i, a, n := c.t.Arguments()
		if !slices.Equal(i, c.integers) || !slices.Equal(a, c.addresses) || n != nil {
			t.Errorf("combiner %d: %v, %v, %v, want %v, %v and none", m.Combiner, i, a, n, c.integers, c.addresses)
		}
		i, a, n = c.t.AsLargeCount().Arguments()
		if !slices.Equal(i, c.largeIntegers) || a != nil || !slices.Equal(n, c.largeCs) {
			t.Errorf("combiner %d, large: %v, %v, %v, want %v, none, %v", m.Combiner, i, a, n, c.largeIntegers, c.largeCs)
		}
	}
}

func TestMatchSize(t *testing.T) {
	for _, c := range []struct {
		t    *Type
		want string
	}{
		{must(MatchSize(ClassInteger, 8)), "MPI_INTEGER8"},
		{must(MatchSize(ClassReal, 4)), "MPI_REAL4"},
		{must(MatchSize(ClassComplex, 16)), "MPI_COMPLEX16"},
	} {
		if c.t.Name() != c.want {
			t.Errorf("%s, want %s", c.t.Name(), c.want)
		}
	}
	for _, c := range []struct {
		t    *Type
		want Kind
	}{
		{must(F90Real(6, 37)), Float32}, {must(F90Real(7, 37)), Float64}, {must(F90Real(6, 38)), Float64},
		{must(F90Real(15, Undefined)), Float64}, {must(F90Real(Undefined, 308)), Float128}, {must(F90Complex(6, 37)), Complex64},
		{must(F90Complex(33, 4931)), Complex256}, {must(F90Integer(2)), Int8}, {must(F90Integer(3)), Int16},
		{must(F90Integer(9)), Int32}, {must(F90Integer(10)), Int64}, {must(F90Integer(18)), Int64}, {must(F90Integer(38)), Int128},
	} {
		if c.t.Kind() != c.want || !c.t.Basic() || !Dup(c.t).Basic() {
			t.Errorf("%v %v: %v, want %v", c.t.made.Combiner, c.t.made.args, c.t.Kind(), c.want)
		}
	}
	if p := ValueIndex(Predefined(0x20a), theInt); p == nil || p.Name() != "MPI_LONG_INT" {
		t.Error("long and int aren't MPI_LONG_INT")
	}
	if ValueIndex(theInt, theDouble) != nil {
		t.Error("int and double are a pair")
	}
}

// TestExternal32 compares with the bytes of the standard's rules.
func TestExternal32(t *testing.T) {
	for _, c := range []struct{ handle, native, external string }{
		{"MPI_INT", "04030201", "01020304"},
		{"MPI_SHORT", "feff", "fffe"},
		{"MPI_LONG", "feffffffffffffff", "fffffffe"},
		{"MPI_UNSIGNED_LONG", "feffffff00000000", "fffffffe"},
		{"MPI_LONG_LONG_INT", "0807060504030201", "0102030405060708"},
		{"MPI_WCHAR", "00f80000", "f800"},
		{"MPI_DOUBLE", "000000000000f03f", "3ff0000000000000"},
		{"MPI_C_COMPLEX", "0000803f00000040", "3f80000040000000"},
		{"MPI_LONG_DOUBLE", "00000000000000c0ff3f000000000000", "3fff8000000000000000000000000000"},
		{"MPI_C_LONG_DOUBLE_COMPLEX", "00000000000000c0ff3f000000000000" + "0000000000000080ffbf000000000000",
			"3fff8000000000000000000000000000" + "bfff0000000000000000000000000000"},
		{"MPI_INTEGER16", "0102030405060708090a0b0c0d0e0f10", "100f0e0d0c0b0a090807060504030201"},
		{"MPI_DOUBLE_INT", "000000000000f03f" + "07000000" + "00000000", "3ff0000000000000" + "00000007"},
		{"MPI_CHARACTER", "61", "61"},
	} {
		i := slices.IndexFunc(All(), func(p *Type) bool { return p.Name() == c.handle })
		p := All()[i]
		native, _ := hex.DecodeString(c.native)
		external := make([]byte, p.external)
		if n, err := p.PackExternal(external, unsafe.Pointer(&native[0]), 1); err != nil || n != len(external) || hex.EncodeToString(external) != c.external {
			t.Errorf("%s: %x, want %s (%d bytes, %v)", c.handle, external, c.external, n, err)
		}
		back := make([]byte, len(native))
		if n, err := p.UnpackExternal(external, unsafe.Pointer(&back[0]), 1); err != nil || n != len(external) || !bytes.Equal(back, native) {
			t.Errorf("%s: back is %x, want %x (%d bytes, %v)", c.handle, back, native, n, err)
		}
		if _, err := p.PackExternal(external[1:], unsafe.Pointer(&native[0]), 1); !errors.Is(err, ErrShort) {
			t.Errorf("%s: a buffer that is too small gives %v", c.handle, err)
		}
	}
}

// TestExternal32RoundTrip converts random types there and back. Their integers are small
// enough, and their long doubles are numbers.
func TestExternal32RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 3)
		if d.t.Size() == 0 {
			return
		}
		_, buf := memory(d.t, 2, 5)
		one := must(Contiguous(2, d.t))
		for i := range int64(2) {
			for _, e := range d.n.entries {
				at := unsafe.Slice((*byte)(unsafe.Add(buf, i*d.n.extent()+e.disp)), e.kind.Size())
				switch e.kind {
				case Long, UnsignedLong, WideChar, LongDouble, LongComplex:
					clear(at) // may overlap another element, which doesn't matter
				}
			}
		}
		want := make([]byte, one.Size())
		d.t.Pack(want, buf, 2, 0)
		external := make([]byte, one.external)
		if n, err := d.t.PackExternal(external, buf, 2); err != nil || n != len(external) {
			t.Fatalf("%d of %d bytes, %v", n, len(external), err)
		}
		_, buf = memory(d.t, 2, 6)
		if _, err := d.t.UnpackExternal(external, buf, 2); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		d.t.Pack(got, buf, 2, 0)
		if !bytes.Equal(got, want) && !overlaps(d.n) {
			t.Fatal("something else came back")
		}
	})
}

// overlaps tells whether two instances have elements that share bytes.
func overlaps(n naive) bool {
	seen := map[int64]bool{}
	for i := range int64(2) {
		for _, e := range n.entries {
			for j := range e.kind.Size() {
				at := i*n.extent() + e.disp + j
				if seen[at] {
					return true
				}
				seen[at] = true
			}
		}
	}
	return false
}

// A status may say that there are more elements than memory holds, as long as their bytes are a
// number.
func TestBytesOfMany(t *testing.T) {
	threeInts := must(Contiguous(3, theInt))
	for _, c := range []struct {
		typ             *Type
		elements, bytes int64
		ok              bool
	}{
		{theInt, 1 << 60, 1 << 62, true},
		{theInt, math.MaxInt64 / 4, math.MaxInt64 / 4 * 4, true},
		{theInt, math.MaxInt64/4 + 1, 0, false},
		{theInt, math.MaxInt64, 0, false},
		{threeInts, math.MaxInt64/12*3 + 1, math.MaxInt64/12*12 + 4, true},
		{threeInts, math.MaxInt64/12*3 + 2, 0, false},
	} {
		bytes, ok := c.typ.BytesOf(c.elements)
		if ok != c.ok || ok && bytes != c.bytes {
			t.Errorf("%d elements of %d bytes: %d, %v; want %d, %v", c.elements, c.typ.size, bytes, ok, c.bytes, c.ok)
		}
		if ok {
			if back, whole := c.typ.ElementsIn(bytes); back != c.elements || !whole {
				t.Errorf("%d bytes: %d elements, %v", bytes, back, whole)
			}
		}
	}
}
