package reduce

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"banyan/abi"
	"banyan/internal/mpi/datatype"
)

// TestHandles compares the operations with the ABI's.
func TestHandles(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	handles := map[Op]bool{}
	for _, c := range table.Constants {
		if v, ok := strings.CutPrefix(c.Value, "((MPI_Op)"); ok && c.Name != "MPI_OP_NULL" {
			h, err := strconv.ParseUint(strings.TrimSuffix(v, ")"), 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			handles[Op(h)] = true
		}
	}
	for _, op := range All {
		if !handles[op] {
			t.Errorf("%#x is no operation of the ABI", op)
		}
		delete(handles, op)
	}
	if len(handles) != 0 {
		t.Errorf("missing: %v", handles)
	}
}

var (
	arithmetic = []Op{Sum, Prod}
	extrema    = []Op{Min, Max}
	logic      = []Op{Land, Lor, Lxor}
	bitops     = []Op{Band, Bor, Bxor}
	location   = []Op{Minloc, Maxloc}
)

// TestGroups checks on which kinds each operation is defined.
func TestGroups(t *testing.T) {
	ints := join(arithmetic, extrema, logic, bitops)
	reals := join(arithmetic, extrema)
	want := map[datatype.Kind][]Op{
		datatype.Mixed: nil, datatype.Packed: nil, datatype.Character: nil, datatype.WideChar: nil,
		datatype.Byte: bitops, datatype.Char: ints, datatype.Bool: logic,
		datatype.Int8: ints, datatype.Int16: ints, datatype.Int32: ints, datatype.Int64: ints, datatype.Int128: ints, datatype.Long: ints,
		datatype.Uint8: ints, datatype.Uint16: ints, datatype.Uint32: ints, datatype.Uint64: ints, datatype.UnsignedLong: ints,
		datatype.Logical1: logic, datatype.Logical2: logic, datatype.Logical4: logic, datatype.Logical8: logic, datatype.Logical16: logic,
		datatype.Float16: reals, datatype.Float32: reals, datatype.Float64: reals, datatype.LongDouble: reals, datatype.Float128: reals,
		datatype.Complex32: arithmetic, datatype.Complex64: arithmetic, datatype.Complex128: arithmetic, datatype.LongComplex: arithmetic, datatype.Complex256: arithmetic,
		datatype.FloatInt: location, datatype.DoubleInt: location, datatype.LongInt: location, datatype.IntInt: location,
		datatype.ShortInt: location, datatype.LongDoubleInt: location, datatype.FloatFloat: location, datatype.DoubleDouble: location,
	}
	for k := range datatype.Kinds {
		ops, ok := want[k]
		if !ok {
			t.Errorf("nothing is said of %v", k)
		}
		allowed := map[Op]bool{Replace: true, NoOp: true}
		for _, op := range ops {
			allowed[op] = true
		}
		for op := Op(0); op < 0x50; op++ {
			if got := For(op, k) != nil; got != allowed[op] {
				t.Errorf("%#x on %v: %v, want %v", op, k, got, allowed[op])
			}
		}
	}
	if For(math.MaxUint32, datatype.Int32) != nil || For(Sum, datatype.Kinds) != nil {
		t.Error("an operation from nowhere")
	}
}

func join(groups ...[]Op) (all []Op) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// odd copies b to an odd address.
func odd(b []byte) []byte {
	c := make([]byte, len(b)+1)
	if uintptr(unsafe.Pointer(&c[0]))%2 != 0 {
		return append(c[:0], b...)
	}
	return append(c[:1], b...)[1:]
}

// TestIntegers compares all operations on integers with big arithmetic, on edge
// cases and random numbers, at odd addresses and in odd numbers.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		k      datatype.Kind
		signed bool
	}{
		{datatype.Int8, true}, {datatype.Int16, true}, {datatype.Int32, true}, {datatype.Int64, true}, {datatype.Int128, true},
		{datatype.Long, true}, {datatype.Char, true}, {datatype.Uint8, false}, {datatype.Uint16, false}, {datatype.Uint32, false},
		{datatype.Uint64, false}, {datatype.UnsignedLong, false},
	} {
		size := int(c.k.Size())
		const n = 203
		left, right := make([]byte, size*n), make([]byte, size*n)
		for i := range left {
			left[i], right[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		for i := range 40 { // 0, 1, -1, the least and the greatest against each other
			edge(left[i*size:(i+1)*size], i%6)
			edge(right[i*size:(i+1)*size], i/6)
		}
		for _, op := range join(arithmetic, extrema, logic, bitops) {
			got := odd(left)
			For(op, c.k)(got, odd(right))
			for i := range n {
				l, r := left[i*size:(i+1)*size], right[i*size:(i+1)*size]
				want := reference(op, number2big(l, c.signed), number2big(r, c.signed))
				if g := number2big(got[i*size:(i+1)*size], false); g.Cmp(modulo(want, size)) != 0 {
					t.Fatalf("%#x on %v of %x, %x: %x", op, c.k, l, r, got[i*size:(i+1)*size])
				}
			}
		}
	}
}

func edge(b []byte, which int) {
	clear(b)
	top := &b[len(b)-1]
	switch which {
	case 1:
		b[0] = 1
	case 2, 3:
		for i := range b {
			b[i] = 0xff
		}
		if which == 3 {
			*top = 0x7f
		}
	case 4:
		*top = 0x80
	case 5:
		b[0] = 2
	}
}

func number2big(b []byte, signed bool) *big.Int {
	be := make([]byte, len(b))
	for i := range b {
		be[len(b)-1-i] = b[i]
	}
	x := new(big.Int).SetBytes(be)
	if signed && be[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func modulo(x *big.Int, size int) *big.Int {
	return x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
}

func reference(op Op, l, r *big.Int) *big.Int {
	x := new(big.Int)
	is := func(b bool) *big.Int { return x.SetInt64(int64(truth[int8](b))) }
	switch op {
	case Sum:
		return x.Add(l, r)
	case Prod:
		return x.Mul(l, r)
	case Min:
		if l.Cmp(r) < 0 {
			return x.Set(l)
		}
		return x.Set(r)
	case Max:
		if l.Cmp(r) > 0 {
			return x.Set(l)
		}
		return x.Set(r)
	case Band:
		return x.And(l, r)
	case Bor:
		return x.Or(l, r)
	case Bxor:
		return x.Xor(l, r)
	case Land:
		return is(l.Sign() != 0 && r.Sign() != 0)
	case Lor:
		return is(l.Sign() != 0 || r.Sign() != 0)
	}
	return is((l.Sign() != 0) != (r.Sign() != 0))
}

// TestLogicals checks that each value but 0 is true, and that true results are 1.
func TestLogicals(t *testing.T) {
	for _, k := range []datatype.Kind{datatype.Bool, datatype.Logical1, datatype.Logical2, datatype.Logical4, datatype.Logical8, datatype.Logical16} {
		size := int(k.Size())
		for _, c := range []struct {
			op      Op
			l, r, w byte
		}{
			{Land, 3, 4, 1}, {Land, 3, 0, 0}, {Land, 0, 4, 0}, {Lor, 0, 0, 0}, {Lor, 2, 0, 1}, {Lor, 0, 8, 1}, {Lxor, 5, 6, 0}, {Lxor, 0, 6, 1}, {Lxor, 0, 0, 0},
		} {
			l, r, w := make([]byte, size), make([]byte, size), make([]byte, size)
			l[size-1], r[size-1], w[0] = c.l, c.r, c.w
			For(c.op, k)(l, r)
			if !bytes.Equal(l, w) {
				t.Errorf("%#x on %v of %d, %d: %x, want %x", c.op, k, c.l, c.r, l, w)
			}
		}
	}
}

// TestLocation checks MINLOC and MAXLOC: the value decides, then the lower index. A NaN comes
// before all numbers.
func TestLocation(t *testing.T) {
	index := func(i int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }
	for _, c := range realKinds {
		if c.pair == datatype.Mixed {
			continue
		}
		for _, x := range samples {
			for _, y := range samples {
				for _, op := range location {
					first := -1 // the one of x and y that comes first
					switch {
					case x == y || x != x && y != y:
						first = 0
					case y != y || x == x && (op == Minloc) == (y < x):
						first = 1
					}
					for _, i := range []int32{-4, 7} {
						want := append(put(c.k, x), index(5)...)
						if first > 0 || first == 0 && i < 5 {
							want = append(put(c.k, y), index(i)...)
						}
						got := append(put(c.k, x), index(5)...)
						// A second pair, which must not change, shows where the first ends.
						got = append(got, got...)
						after := bytes.Clone(got[len(got)/2:])
						For(op, c.pair)(got, append(append(put(c.k, y), index(i)...), after...))
						if !bytes.Equal(got, append(want, after...)) {
							t.Errorf("%#x on %v of (%v, 5), (%v, %d): %x, want %x", op, c.pair, x, y, i, got, want)
						}
					}
				}
			}
		}
	}
	for _, c := range []struct {
		k    datatype.Kind
		pair func(v, i int) []byte
	}{
		{datatype.IntInt, func(v, i int) []byte { return append(index(int32(v)), index(int32(i))...) }},
		{datatype.ShortInt, func(v, i int) []byte {
			return append(binary.LittleEndian.AppendUint16(nil, uint16(v)), index(int32(i))...)
		}},
		{datatype.LongInt, func(v, i int) []byte {
			return append(binary.LittleEndian.AppendUint64(nil, uint64(v)), index(int32(i))...)
		}},
		{datatype.FloatFloat, func(v, i int) []byte {
			return append(put(datatype.Float32, float64(v)), put(datatype.Float32, float64(i))...)
		}},
		{datatype.DoubleDouble, func(v, i int) []byte {
			return append(put(datatype.Float64, float64(v)), put(datatype.Float64, float64(i))...)
		}},
	} {
		for _, w := range []struct {
			op                 Op
			v, i, u, j, wv, wi int
		}{
			{Minloc, 3, 1, 2, 9, 2, 9}, {Minloc, -3, 4, 2, 0, -3, 4}, {Minloc, 3, 4, 3, 2, 3, 2}, {Minloc, 3, 2, 3, 4, 3, 2},
			{Maxloc, 3, 1, 2, 9, 3, 1}, {Maxloc, -3, 4, 2, 8, 2, 8}, {Maxloc, 3, 4, 3, 2, 3, 2}, {Maxloc, 3, 2, 3, 4, 3, 2},
		} {
			got := c.pair(w.v, w.i)
			if For(w.op, c.k)(got, c.pair(w.u, w.j)); !bytes.Equal(got, c.pair(w.wv, w.wi)) {
				t.Errorf("%#x on %v of (%d, %d), (%d, %d): %x", w.op, c.k, w.v, w.i, w.u, w.j, got)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	l := []byte{1, 2, 3}
	For(NoOp, datatype.Character)(l, []byte{4, 5, 6})
	if l[0] != 1 {
		t.Error("NO_OP did something")
	}
	For(Replace, datatype.Character)(l, []byte{4, 5, 6})
	if !bytes.Equal(l, []byte{4, 5, 6}) {
		t.Error("REPLACE didn't")
	}
}

func BenchmarkReduce(b *testing.B) {
	for _, c := range []struct {
		name string
		op   Op
		k    datatype.Kind
	}{
		{"sum of doubles", Sum, datatype.Float64}, {"sum of floats", Sum, datatype.Float32}, {"sum of ints", Sum, datatype.Int32},
		{"max of doubles", Max, datatype.Float64}, {"max of ints", Max, datatype.Int32}, {"bor of bytes", Bor, datatype.Byte},
		{"minloc of doubles", Minloc, datatype.DoubleInt}, {"product of complex", Prod, datatype.Complex128}, {"sum of long doubles", Sum, datatype.LongDouble},
	} {
		f := For(c.op, c.k)
		n := 1 << 14 / c.k.Size() * c.k.Size()
		left, right := make([]byte, n), make([]byte, n)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				f(left, right)
			}
		})
	}
}
