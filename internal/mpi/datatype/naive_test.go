package datatype

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// naive is a type map that is written out, with the standard's rules applied literally. The
// tests compare the types with it.
type naive struct {
	entries []entry
	marked  bool
	lb, ub  int64 // of markers
}

type entry struct {
	kind Kind
	disp int64
}

func naiveOf(t *Type) naive {
	if value, index, ok := t.kind.Pair(); ok {
		at := map[Kind]int64{FloatInt: 4, DoubleInt: 8, LongInt: 8, IntInt: 4, ShortInt: 4, LongDoubleInt: 16, FloatFloat: 4, DoubleDouble: 8}
		return naive{entries: []entry{{value, 0}, {index, at[t.kind]}}}
	}
	return naive{entries: []entry{{t.kind, 0}}}
}

func (n naive) size() (size int64) {
	for _, e := range n.entries {
		size += e.kind.Size()
	}
	return size
}

func (n naive) trueBounds() (lb, ub int64) {
	for i, e := range n.entries {
		if i == 0 {
			lb, ub = e.disp, e.disp+e.kind.Size()
		}
		lb, ub = min(lb, e.disp), max(ub, e.disp+e.kind.Size())
	}
	return lb, ub
}

func (n naive) bounds() (lb, ub int64) {
	if n.marked {
		return n.lb, n.ub
	}
	lb, ub = n.trueBounds()
	align := int64(1)
	for _, e := range n.entries {
		align = max(align, traits[e.kind].align)
	}
	for (ub-lb)%align != 0 {
		ub++
	}
	return lb, ub
}

func (n naive) extent() int64 {
	lb, ub := n.bounds()
	return ub - lb
}

// at appends a copy of m, disp bytes further on.
func (n *naive) at(m naive, disp int64) {
	for _, e := range m.entries {
		n.entries = append(n.entries, entry{e.kind, e.disp + disp})
	}
	if m.marked {
		if !n.marked {
			n.marked, n.lb, n.ub = true, m.lb+disp, m.ub+disp
		}
		n.lb, n.ub = min(n.lb, m.lb+disp), max(n.ub, m.ub+disp)
	}
}

func (n *naive) block(m naive, count, disp int64) {
	for i := range count {
		n.at(m, disp+i*m.extent())
	}
}

// pack copies count instances at buf, byte by byte.
func (n naive) pack(buf unsafe.Pointer, count int64) (msg []byte) {
	for i := range count {
		for _, e := range n.entries {
			at := unsafe.Add(buf, i*n.extent()+e.disp)
			msg = append(msg, unsafe.Slice((*byte)(at), e.kind.Size())...)
		}
	}
	return msg
}

// drawn is a random type in both representations.
type drawn struct {
	t *Type
	n naive
}

// draw makes a random type of depth constructors at most, with up to some hundreds
// of elements.
func draw(t *rapid.T, depth int) drawn {
	if depth == 0 {
		all := All()
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "predefined")]
		return drawn{p, naiveOf(p)}
	}
	old := draw(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
	small := rapid.Int64Range(0, 3)
	if len(old.n.entries) > 200 {
		small = rapid.Int64Range(0, 1)
	}
	disp := rapid.Int64Range(-20, 20)
	ext := old.n.extent()
	var typ *Type
	var n naive
	var err error
	kind := rapid.SampledFrom([]string{"contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block", "hindexed_block",
		"struct", "resized", "dup"}).Draw(t, "constructor")
	switch kind {
	case "contiguous":
		count := small.Draw(t, "count")
		typ, err = Contiguous(count, old.t)
		n.block(old.n, count, 0)
	case "vector", "hvector":
		count, length, stride := small.Draw(t, "count"), small.Draw(t, "blocklength"), disp.Draw(t, "stride")
		make, step := Vector, stride*ext
		if kind == "hvector" {
			make, step = Hvector, stride
		}
		typ, err = make(count, length, stride, old.t)
		for i := range count {
			n.block(old.n, length, i*step)
		}
	case "indexed", "hindexed", "indexed_block", "hindexed_block":
		disps := rapid.SliceOfN(disp, 0, 5).Draw(t, "displacements")
		if rapid.Bool().Draw(t, "even") { // does join find it regular?
			for i := range disps {
				disps[i] = disps[0] + int64(i)*2
			}
		}
		lengths := make([]int64, len(disps))
		length := small.Draw(t, "blocklength")
		for i := range lengths {
			lengths[i] = length
		}
		unit := int64(1)
		switch kind {
		case "indexed_block":
			typ, err = IndexedBlock(length, disps, old.t)
			unit = ext
		case "hindexed_block":
			typ, err = HindexedBlock(length, disps, old.t)
		case "indexed":
			lengths = rapid.SliceOfN(small, len(disps), len(disps)).Draw(t, "blocklengths")
			typ, err = Indexed(lengths, disps, old.t)
			unit = ext
		case "hindexed":
			lengths = rapid.SliceOfN(small, len(disps), len(disps)).Draw(t, "blocklengths")
			typ, err = Hindexed(lengths, disps, old.t)
		}
		for i, d := range disps {
			n.block(old.n, lengths[i], d*unit)
		}
	case "struct":
		fields := []drawn{old}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			fields = append(fields, draw(t, rapid.IntRange(0, depth-1).Draw(t, "depth")))
		}
		disps := rapid.SliceOfN(disp, len(fields), len(fields)).Draw(t, "displacements")
		if rapid.Bool().Draw(t, "as C") {
			at := int64(0)
			for i, f := range fields {
				disps[i] = at
				at += f.n.extent()
			}
		}
		lengths := rapid.SliceOfN(small, len(fields), len(fields)).Draw(t, "blocklengths")
		types := make([]*Type, len(fields))
		for i, f := range fields {
			types[i] = f.t
			n.block(f.n, lengths[i], disps[i])
		}
		typ, err = Struct(lengths, disps, types)
	case "resized":
		lb, extent := disp.Draw(t, "lb"), rapid.Int64Range(-10, 60).Draw(t, "extent")
		typ, err = Resized(old.t, lb, extent)
		n = naive{entries: old.n.entries, marked: true, lb: lb, ub: lb + extent}
	case "dup":
		typ, n = Dup(old.t), old.n
	}
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	if _, length := typ.Span(3); length > arena/4 {
		return old
	}
	return drawn{typ, n}
}

// arena is the number of bytes of the tests' memory.
const arena = 1 << 20

// ground is memory outside Go's heap, like a C program's: the garbage collector ignores
// addresses before or behind the data.
var ground = func() []byte {
	mem, err := syscall.Mmap(-1, 0, arena, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return mem
}()

// memory is random bytes around all the bytes that count instances touch, and the instances'
// address.
func memory(d *Type, count int64, seed uint64) (mem []byte, buf unsafe.Pointer) {
	first, length := d.Span(count)
	const margin = 64
	mem = ground[arena/2-length/2-margin:][:length+2*margin]
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range mem {
		mem[i] = byte(r.Uint32())
	}
	return mem, unsafe.Add(unsafe.Pointer(&mem[0]), margin-first)
}

// TestAgainstTypeMaps compares bounds, sizes, packing and counting of random types with the
// type map written out.
func TestAgainstTypeMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 4)
		typ, n := d.t, d.n
		if typ.Size() != n.size() || typ.elements != int64(len(n.entries)) {
			t.Fatalf("size %d of %d elements, want %d of %d", typ.Size(), typ.elements, n.size(), len(n.entries))
		}
		lb, extent := typ.Extent()
		if wantLB, wantUB := n.bounds(); lb != wantLB || lb+extent != wantUB {
			t.Fatalf("bounds %d, %d, want %d, %d", lb, lb+extent, wantLB, wantUB)
		}
		trueLB, trueExtent := typ.TrueExtent()
		if wantLB, wantUB := n.trueBounds(); trueLB != wantLB || trueLB+trueExtent != wantUB {
			t.Fatalf("true bounds %d, %d, want %d, %d", trueLB, trueLB+trueExtent, wantLB, wantUB)
		}

		count := rapid.Int64Range(0, 3).Draw(t, "instances")
		mem, buf := memory(typ, count, 1)
		want := n.pack(buf, count)
		if size, ok := typ.Bytes(count); !ok || size != int64(len(want)) {
			t.Fatalf("%d instances have %d bytes, want %d", count, size, len(want))
		}
		msg := make([]byte, len(want))
		if got := typ.Pack(msg, buf, count, 0); got != len(want) || !slices.Equal(msg, want) {
			t.Fatalf("packed %d bytes, want %d, and the same", got, len(want))
		}
		if first, ok := typ.Contiguous(count); ok {
			if !slices.Equal(unsafe.Slice((*byte)(unsafe.Add(buf, first)), len(want)), want) {
				t.Fatalf("the data isn't contiguous at %d", first)
			}
		}

		// In pieces; each has too much room at the end.
		var pieces []byte
		for len(pieces) < len(want) {
			piece := make([]byte, rapid.IntRange(1, len(want)).Draw(t, "piece"))
			pieces = append(pieces, piece[:typ.Pack(piece, buf, count, int64(len(pieces)))]...)
		}
		if !slices.Equal(pieces, want) {
			t.Fatal("packed in pieces it is something else")
		}

		checkUnpack(t, typ, n, count, mem, buf)
		checkElements(t, typ, n)
	})
}

// checkUnpack unpacks another message. It expects its bytes at their positions, and all other
// bytes unchanged.
func checkUnpack(t *rapid.T, typ *Type, n naive, count int64, mem []byte, buf unsafe.Pointer) {
	before := slices.Clone(mem)
	base := uintptr(unsafe.Pointer(&mem[0]))
	size, _ := typ.Bytes(count)
	msg := make([]byte, size)
	for i := range msg {
		msg[i] = byte(i*7 + 1)
	}
	want, k := before, 0
	overlap := map[int64]bool{}
	for i := range count {
		for _, e := range n.entries {
			at := int64(uintptr(buf)-base) + i*n.extent() + e.disp
			for j := range e.kind.Size() {
				if overlap[at+j] {
					return // a program may not receive into such types
				}
				overlap[at+j] = true
			}
			k += copy(want[at:at+e.kind.Size()], msg[k:])
		}
	}
	whole := slices.Clone(mem)
	if got := typ.Unpack(msg, buf, count, 0); got != len(msg) || !slices.Equal(mem, want) {
		t.Fatalf("unpacked %d bytes of %d, or to a wrong address", got, len(msg))
	}
	copy(mem, whole)
	for at := 0; at < len(msg); {
		piece := rapid.IntRange(1, len(msg)-at).Draw(t, "piece")
		at += typ.Unpack(msg[at:at+piece], buf, count, int64(at))
	}
	if !slices.Equal(mem, want) {
		t.Fatal("unpacked in pieces it is something else")
	}
}

// checkElements compares the counting of elements at every length up to two instances.
func checkElements(t *rapid.T, typ *Type, n naive) {
	whole := map[int64]int64{0: 0} // elements by bytes, where the last is whole
	at, k := int64(0), int64(0)
	for range 2 {
		for _, e := range n.entries {
			at += e.kind.Size()
			k++
			whole[at] = k
		}
	}
	for bytes := int64(0); bytes <= at; bytes++ {
		want, ok := whole[bytes]
		got, gotOK := typ.ElementsIn(bytes)
		if ok != gotOK || ok && got != want {
			t.Fatalf("%d bytes have %d elements, %v; want %d, %v", bytes, got, gotOK, want, ok)
		}
		if ok {
			if back, _ := typ.BytesOf(want); back != bytes {
				t.Fatalf("%d elements have %d bytes, want %d", want, back, bytes)
			}
		}
	}
}

// FuzzTypes lets the fuzzer choose the types.
func FuzzTypes(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		d := draw(t, 5)
		mem, buf := memory(d.t, 2, 1)
		want := d.n.pack(buf, 2)
		msg := make([]byte, len(want))
		if d.t.Pack(msg, buf, 2, 0) != len(want) || !slices.Equal(msg, want) {
			t.Fatal("packed something else")
		}
		checkUnpack(t, d.t, d.n, 2, mem, buf)
	}))
}
