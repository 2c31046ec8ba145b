package comm

import (
	"testing"

	"pgregory.net/rapid"
)

// The number of members left after folding is a power of two. They are in rank order, and the
// blocks that they stand for are all ranks in their order.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		next, covered := 0, 0
		for rank := range n {
			f := fold(n, rank)
			if f.power&(f.power-1) != 0 || f.power > n || f.power*2 <= n {
				t.Fatalf("%d of %d members are left", f.power, n)
			}
			if f.me < 0 {
				if !f.paired(rank) || fold(n, rank+1).me < 0 {
					t.Fatalf("rank %d of %d has no partner", rank, n)
				}
				continue
			}
			if f.me != next || f.rank(f.me) != rank {
				t.Fatalf("rank %d of %d has position %d, which is rank %d", rank, n, f.me, f.rank(f.me))
			}
			first, end := f.block(f.me)
			if first != covered || end != rank+1 {
				t.Fatalf("rank %d of %d stands for %d to %d after %d", rank, n, first, end, covered)
			}
			next, covered = next+1, end
		}
		if next != fold(n, 0).power || covered != n {
			t.Fatalf("%d positions, %d ranks of %d", next, covered, n)
		}
	})
}
