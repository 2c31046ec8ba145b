package logp

import (
	"testing"
	"unsafe"
)

// TestHugePages: arrays of all sizes are zero and don't overlap, and small ones use what large
// ones leave.
func TestHugePages(t *testing.T) {
	var h hugePages
	type array struct{ words []uint64 }
	var arrays []array
	for _, n := range []int{0, 1, 1000, hugePage / 8, 3, 5 * hugePage / 16, 100, hugePage / 32, 7, hugePage / 16, 0, hugePage/8 - 100} {
		words := makeHuge[uint64](&h, n)
		if len(words) != n {
			t.Fatalf("%d words, want %d", len(words), n)
		}
		for i, w := range words {
			if w != 0 {
				t.Fatalf("array %d: word %d is %d", len(arrays), i, w)
			}
			words[i] = uint64(len(arrays) + 1)
		}
		arrays = append(arrays, array{words})
	}
	for i, a := range arrays {
		for j, w := range a.words {
			if w != uint64(i+1) {
				t.Fatalf("array %d: word %d is of array %d", i, j, w-1)
			}
		}
	}
	before := len(h.rest)
	if before == 0 {
		t.Fatal("nothing is left")
	}
	bytes := makeHuge[uint8](&h, 1)
	if len(h.rest) >= before || uintptr(unsafe.Pointer(&bytes[0]))%64 != 0 {
		t.Error("a small array isn't in what is left, or not at the beginning of a cache line")
	}
}
