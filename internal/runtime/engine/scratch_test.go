package engine

import "testing"

// Buffers in use at a time don't overlap, whatever their sizes, and the next program
// gets them again.
func TestScratch(t *testing.T) {
	var s scratch
	for range 3 {
		var all [][]byte
		for i, n := range []int{0, 1, 100, keepScratch, keepScratch + 1, 1 << 20, 1<<20 + 1, keepScratch + 1} {
			b := s.take(n)
			if len(b) != n {
				t.Fatalf("%d bytes in place of %d", len(b), n)
			}
			for k := range b {
				b[k] = byte(i)
			}
			all = append(all, b)
		}
		for i, b := range all {
			for k := range b {
				if b[k] != byte(i) {
					t.Fatalf("buffers %d and %d overlap", i, b[k])
				}
			}
		}
		s.giveBack()
		if len(s.large) > 0 || len(s.small) != 4 {
			t.Errorf("%d large and %d small buffers are kept", len(s.large), len(s.small))
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.take(10); s.take(1000); s.giveBack() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
