package replica

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWindowAgainstMap compares a window with a map of the open entries.
func TestWindowAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window[int]
		model := make(map[uint64]int)
		last := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				last += rapid.Uint64Range(1, 3).Draw(t, "step")
				model[last] = rapid.Int().Draw(t, "value")
				w.push(last, model[last])
			},
			"remove": func(t *rapid.T) {
				seq := rapid.Uint64Range(0, last+1).Draw(t, "seq")
				if e := w.find(seq); e != nil {
					w.remove(e)
				}
				delete(model, seq)
			},
			"trim": func(*rapid.T) { w.trim() },
			"": func(t *rapid.T) {
				if w.open != len(model) {
					t.Fatalf("%d open; want %d", w.open, len(model))
				}
				for seq := range last + 2 {
					value, want := model[seq]
					if e := w.find(seq); (e != nil) != want || want && e.value != value {
						t.Fatalf("find(%d): %+v; want %v", seq, e, want)
					}
					i := w.from(seq)
					if i < w.size && w.at(i).seq < seq || i > 0 && w.at(i-1).seq >= seq {
						t.Fatalf("from(%d) = %d", seq, i)
					}
				}
			},
		})
	})
}

// TestWindowBehindAStraggler: one open entry at the front doesn't make the entries that come
// and go behind it pile up.
func TestWindowBehindAStraggler(t *testing.T) {
	var w window[int]
	w.push(1, 0)
	for seq := uint64(2); seq < 100_000; seq++ {
		w.push(seq, 0)
		w.remove(w.find(seq))
		w.trim()
	}
	if len(w.ring) > 8 {
		t.Errorf("room for %d entries where 2 are open at most", len(w.ring))
	}
}
