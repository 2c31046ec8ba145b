package binding

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Pieces overlap if some byte is in one that is sent and in one that is received.
func TestOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) piece {
			from := rapid.UintptrRange(1, 40).Draw(t, "from")
			return piece{from, from + rapid.UintptrRange(1, 6).Draw(t, "bytes"), rapid.IntRange(0, 1).Draw(t, "way")}
		}), 0, 8).Draw(t, "pieces")
		var at [2][50]bool
		want := false
		for _, p := range pieces {
			for b := p.from; b < p.to; b++ {
				at[p.way][b] = true
				want = want || at[0][b] && at[1][b]
			}
		}
		if overlap(slices.Clone(pieces)) != want {
			t.Fatalf("%v: %v", pieces, !want)
		}
	})
}
