package prefetch

import "testing"

// TestHarmless: whatever is asked for, nothing faults and nothing changes.
func TestHarmless(t *testing.T) {
	type wide struct{ words [40]uint64 }
	w := wide{}
	for i := range w.words {
		w.words[i] = uint64(i)
	}
	Value(&w)
	First(&w)
	Until(&w, &w.words[20])
	Until(&w, &w.words)
	Slice(w.words[3:])
	Slice(w.words[:0])
	Slice([]wide(nil))
	Value[wide](nil)
	First[wide](nil)
	for i, got := range w.words {
		if got != uint64(i) {
			t.Errorf("word %d is %d", i, got)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Value(&w); Slice(w.words[:]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
