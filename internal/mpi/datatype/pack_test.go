package datatype

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// cases are types that programs use. A benchmark copies 1 MiB of data with each,
// but where another size is told.
func cases() []struct {
	name  string
	t     *Type
	count int64
} {
	const n = 1 << 17 // doubles in a MiB
	random := make([]int64, n)
	for i := range random {
		random[i] = int64(i)*3 + int64(i*7919)%2
	}
	particle := must(Struct([]int64{3, 1}, []int64{0, 24}, []*Type{theDouble, theInt}))
	padded := must(Resized(must(Struct([]int64{1, 1, 1}, []int64{0, 8, 16}, []*Type{theInt, theDouble, theInt})), 0, 24))
	odd := must(Resized(must(Struct([]int64{1, 2, 3, 37, 8}, []int64{68, 58, 53, 9, 0}, []*Type{theByte, theByte, theByte, theByte, theByte})), -16, 100))
	var lengths, places []int64 // of blocks of one to three
	for i, at := int64(0), int64(0); i < n/2; i++ {
		lengths, places = append(lengths, i%3+1), append(places, at)
		at += i%3 + 1 + i%4 + 1
	}
	return []struct {
		name  string
		t     *Type
		count int64
	}{
		{"contiguous", theDouble, n},
		{"column of doubles", must(Vector(n, 1, 4, theDouble)), 1},
		{"column of ints", must(Vector(2*n, 1, 4, theInt)), 1},
		{"column of bytes", must(Vector(8*n, 1, 4, theByte)), 1},
		{"column of pairs", must(Vector(n/2, 2, 4, theDouble)), 1},
		{"blocks of 64", must(Vector(n/8, 8, 16, theDouble)), 1},
		{"blocks of 4096", must(Vector(n/512, 512, 1024, theDouble)), 1},
		{"face of a cube", must(Subarray([]int64{512, 512, 2}, []int64{512, 256, 1}, []int64{0, 7, 1}, OrderC, theDouble)), 1},
		{"indexed ints", must(IndexedBlock(1, random, theInt)), 1},
		{"indexed doubles", must(IndexedBlock(1, random, theDouble)), 1},
		{"indexed pairs", must(IndexedBlock(1, random[:n/2], must(Contiguous(2, theDouble)))), 1},
		{"indexed blocks of 24", must(IndexedBlock(3, random[:n/3], must(Resized(theDouble, 0, 16)))), 1},
		{"structs", particle, n * 8 / 28},
		{"padded structs", padded, n / 2},
		{"structs of odd fields", odd, n * 8 / 56},
		{"indexed blocks", must(Indexed(lengths, places, theDouble)), 1},
		{"few indexed blocks", must(Indexed(lengths[:64], places[:64], theDouble)), 1}, // 1 KiB
	}
}

// TestKernels compares each kernel's packing and unpacking with copies of single elements.
func TestKernels(t *testing.T) {
	for _, c := range cases() {
		// As in the naive type map: the position of each element of an instance.
		var disps []int64
		var sizes []int64
		walk(c.t.typed.node, c.t.typed.disp, func(k Kind, disp int64) {
			disps, sizes = append(disps, disp), append(sizes, k.Size())
		})
		_, extent := c.t.Extent()
		first, length := c.t.Span(c.count)
		mem := make([]byte, first+length)
		for i := range mem {
			mem[i] = byte(i * 31 >> 3)
		}
		var want []byte
		for i := range c.count {
			for k, d := range disps {
				at := i*extent + d
				want = append(want, mem[at:at+sizes[k]]...)
			}
		}
		msg := make([]byte, len(want))
		if c.t.Pack(msg, unsafe.Pointer(&mem[0]), c.count, 0); !bytes.Equal(msg, want) {
			t.Errorf("%s: packed something else", c.name)
		}
		back := make([]byte, len(mem))
		c.t.Unpack(msg, unsafe.Pointer(&back[0]), c.count, 0)
		clear(msg)
		if c.t.Pack(msg, unsafe.Pointer(&back[0]), c.count, 0); !bytes.Equal(msg, want) {
			t.Errorf("%s: unpacked to somewhere else", c.name)
		}
	}
}

// walk visits the elements of a type map.
func walk(n *node, disp int64, visit func(k Kind, disp int64)) {
	switch n.form {
	case run:
		for at := int64(0); at < n.size; at += n.kind.Size() {
			visit(n.kind, disp+at)
		}
	case loop:
		for i := range n.count {
			walk(n.child, disp+i*n.stride, visit)
		}
	case list:
		for _, it := range n.items {
			walk(it.node, disp+it.disp, visit)
		}
	}
}

// TestNoAllocation covers each kernel, whole and in pieces.
func TestNoAllocation(t *testing.T) {
	for _, c := range cases() {
		size, _ := c.t.Bytes(c.count)
		first, length := c.t.Span(c.count)
		mem, msg := make([]byte, first+length), make([]byte, size)
		buf := unsafe.Pointer(&mem[0])
		if n := testing.AllocsPerRun(5, func() {
			c.t.Pack(msg, buf, c.count, 0)
			c.t.Unpack(msg, buf, c.count, 0)
			c.t.Pack(msg[:1001], buf, c.count, 777)
			c.t.Unpack(msg[:1001], buf, c.count, 777)
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkPack(b *testing.B)   { benchmark(b, (*Type).Pack) }
func BenchmarkUnpack(b *testing.B) { benchmark(b, (*Type).Unpack) }

func benchmark(b *testing.B, move func(*Type, []byte, unsafe.Pointer, int64, int64) int) {
	for _, c := range cases() {
		size, _ := c.t.Bytes(c.count)
		first, length := c.t.Span(c.count)
		mem, msg := make([]byte, first+length), make([]byte, size)
		buf := unsafe.Pointer(&mem[0])
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				move(c.t, msg, buf, c.count, 0)
			}
		})
	}
}

// BenchmarkLoop is the loop that a Go programmer would write for the same data, to compare with
// BenchmarkPack.
func BenchmarkLoop(b *testing.B) {
	const n = 1 << 17
	mem, msg := make([]float64, 4*n), make([]float64, n)
	b.Run("contiguous", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			copy(msg, mem)
		}
	})
	b.Run("column of doubles", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			for i := range msg {
				msg[i] = mem[4*i]
			}
		}
	})
	b.Run("blocks of 64", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			for i := 0; i < n; i += 8 {
				copy(msg[i:i+8], mem[2*i:])
			}
		}
	})
}

// TestRuns: the runs of a type are what Pack copies, and none touches the next.
func TestRuns(t *testing.T) {
	for _, c := range cases() {
		type piece struct{ disp, size int64 }
		var want, got []piece
		walk(c.t.typed.node, c.t.typed.disp, func(k Kind, disp int64) {
			if n := len(want); n > 0 && want[n-1].disp+want[n-1].size == disp {
				want[n-1].size += k.Size()
			} else {
				want = append(want, piece{disp, k.Size()})
			}
		})
		if !c.t.Runs(func(disp, size int64) bool {
			got = append(got, piece{disp, size})
			return true
		}) || !slices.Equal(got, want) {
			t.Errorf("%s: %d runs, want %d", c.name, len(got), len(want))
		}
		if n := 0; len(want) > 3 && c.t.Runs(func(int64, int64) bool { n++; return n < 3 }) || len(want) > 3 && n != 3 {
			t.Errorf("%s: %d runs after the third was refused", c.name, n)
		}
	}
}
