package binding

import (
	"sync"
	"testing"
)

// A handle is found until it is freed, and not after that, although its entry is used again.
func TestTable(t *testing.T) {
	tb := &table[int]{kind: kindOp}
	seen := map[uintptr]bool{}
	for i := range 3 * generations / 2 {
		h := tb.add(&i)
		if h < firstHandle || h >= 1<<31 || seen[h] && i < generations {
			t.Fatalf("handle %d is %#x", i, h)
		}
		for old := range seen {
			if old != h && tb.get(old) != nil {
				t.Fatalf("the freed handle %#x is found", old)
			}
		}
		seen[h] = true
		if got := tb.get(h); got == nil || *got != i {
			t.Fatalf("%#x isn't found", h)
		}
		for _, wrong := range []uintptr{0, 1, h - 1, h + 1, h ^ 1<<31, h | 1<<40, 0x101, 1<<31 - 1} {
			if tb.get(wrong) != nil {
				t.Fatalf("%#x is found", wrong)
			}
		}
		if tb.remove(h) == nil || tb.get(h) != nil || tb.remove(h) != nil {
			t.Fatalf("%#x isn't freed", h)
		}
	}
	if len(seen) != generations {
		t.Errorf("one entry had %d handles, want %d", len(seen), generations)
	}
}

// Many handles, up to the limit.
func TestTableFull(t *testing.T) {
	if testing.Short() {
		t.Skip("a million handles")
	}
	tb := &table[int]{kind: kindOp}
	x := 1
	for range 1<<indexBits - firstIndex {
		if h := tb.add(&x); h == 0 || h >= 1<<24 || tb.get(h) != &x {
			t.Fatalf("%#x", h)
		}
	}
	if h := tb.add(&x); h != 0 {
		t.Errorf("there is no end: %#x", h)
	}
}

// Threads don't disturb each other.
func TestTableThreads(t *testing.T) {
	tb := &table[int]{kind: kindOp}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 2000 {
				h := tb.add(&i)
				if tb.get(h) != &i || tb.remove(h) != &i {
					t.Errorf("%#x isn't its own", h)
					return
				}
			}
		})
	}
	wg.Wait()
}
