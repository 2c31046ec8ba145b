package datatype

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"banyan/internal/varint"
)

// What a description is read as finds the same bytes.
func TestDescription(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := drawDescribed(t, 3)
		r := varint.Read(typ.AppendDescription(nil))
		got, err := ReadDescription(&r)
		if err != nil || !r.Done() {
			t.Fatalf("%v, done %v", err, r.Done())
		}
		count := rapid.Int64Range(0, 3).Draw(t, "count")
		first, length := typ.Span(count)
		if f, l := got.Span(count); f != first || l != length || got.Size() != typ.Size() {
			t.Fatalf("%d bytes from %d, size %d; want %d from %d, %d", l, f, got.Size(), length, first, typ.Size())
		}
		memory := make([]byte, length+1)
		for i := range memory {
			memory[i] = byte(rapid.Byte().Draw(t, "byte"))
		}
		at := unsafe.Add(unsafe.Pointer(&memory[0]), -first)
		size := typ.Size() * count
		a, b := make([]byte, size), make([]byte, size)
		typ.Pack(a, at, count, 0)
		got.Pack(b, at, count, 0)
		if !bytes.Equal(a, b) {
			t.Fatalf("packs %x, want %x", b, a)
		}
	})
}

func drawDescribed(t *rapid.T, depth int) *Type {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return Predefined(rapid.SampledFrom([]uintptr{0x247, 0x209, 0x214, 0x229}).Draw(t, "type"))
	}
	n := rapid.IntRange(1, 4).Draw(t, "n")
	numbers := func(low, high int64) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(low, high), n, n).Draw(t, "numbers")
	}
	var typ *Type
	var err error
	switch old := drawDescribed(t, depth-1); rapid.IntRange(0, 3).Draw(t, "form") {
	case 0:
		typ, err = Vector(int64(n), rapid.Int64Range(0, 3).Draw(t, "length"), rapid.Int64Range(-5, 5).Draw(t, "stride"), old)
	case 1:
		typ, err = Hindexed(numbers(0, 3), numbers(-40, 40), old)
	case 2:
		types := make([]*Type, n)
		for i := range types {
			types[i] = drawDescribed(t, depth-1)
		}
		typ, err = Struct(numbers(0, 2), numbers(-40, 40), types)
	case 3:
		typ, err = Resized(old, rapid.Int64Range(-20, 20).Draw(t, "lb"), rapid.Int64Range(0, 60).Draw(t, "extent"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// Nodes that a type shares are described once: this one has 8^10 elements.
func TestDescriptionIsSmall(t *testing.T) {
	typ := Predefined(0x209)
	for range 10 {
		var err error
		if typ, err = Indexed([]int64{1, 2, 1, 3, 1}, []int64{0, 2, 7, 11, 30}, typ); err != nil {
			t.Fatal(err)
		}
		if typ, err = Resized(typ, 0, 2*typ.ub); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(typ.AppendDescription(nil)); n > 2000 {
		t.Errorf("%d bytes", n)
	}
}

// What is read is one of the types that can be walked: within its bounds, and not deeper than a
// stack.
func FuzzReadDescription(f *testing.F) {
	v, _ := Vector(3, 2, 5, Predefined(0x209))
	f.Add(v.AppendDescription(nil))
	s, _ := Hindexed([]int64{1, 2, 1}, []int64{3, -9, 40}, v)
	f.Add(s.AppendDescription(nil))
	f.Add([]byte{1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := varint.Read(b)
		typ, err := ReadDescription(&r)
		if err != nil {
			return
		}
		if _, ok := typ.Bytes(1); !ok {
			t.Fatal("too large")
		}
		first, length := typ.Span(1)
		seen := 0
		typ.Runs(func(disp, size int64) bool {
			if disp < first || size <= 0 || disp+size > first+length {
				t.Fatalf("%d bytes at %d, not within %d from %d", size, disp, length, first)
			}
			seen++
			return seen < 1000
		})
		if typ.size > 0 && seen == 0 {
			t.Fatal("it has bytes, and no runs")
		}
	})
}
