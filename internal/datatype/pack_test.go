package datatype

import (
	"testing"
	"unsafe"
)

// cases are types that programs use: what a benchmark moves 1 MiB of data with.
func cases() []struct {
	name  string
	t     *Type
	count int64
} {
	const n = 1 << 17 // doubles in a MiB
	random := make([]int64, n)
	for i := range random {
		random[i] = int64(i)*2 + int64(i*7919)%2
	}
	particle := must(Struct([]int64{3, 1}, []int64{0, 24}, []*Type{theDouble, theInt}))
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
		{"indexed doubles", must(IndexedBlock(1, random, theDouble)), 1},
		{"indexed blocks of 24", must(IndexedBlock(3, random[:n/3], must(Resized(theDouble, 0, 16)))), 1},
		{"structs", particle, n * 8 / 28},
	}
}

// TestNoAllocation covers every kernel, whole and in pieces.
func TestNoAllocation(t *testing.T) {
	for _, c := range cases() {
		size, _ := c.t.Bytes(c.count)
		first, length := c.t.Span(c.count)
		mem, msg := make([]byte, first+length), make([]byte, size)
		buf := unsafe.Pointer(&mem[0])
		if n := testing.AllocsPerRun(1, func() {
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

// BenchmarkLoop is the loop that a Go programmer would write for the same data: the
// measure for BenchmarkPack.
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
