package comm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/proto"
)

// Living members that aren't spares keep their ranks as long as there are spares, all that live are
// members, and the spares that are left are the last.
func TestRefilled(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 1 + rng.IntN(12)
		var group, failed []proto.Rank
		for _, r := range rng.Perm(20)[:n] {
			group = append(group, proto.Rank(r))
		}
		spares := rng.IntN(n)
		for _, r := range group {
			if rng.IntN(3) == 0 {
				failed = append(failed, r)
			}
		}
		filled, left := refilled(group, spares, failed)
		work := n - spares
		deadWorkers := 0
		for i, r := range group {
			switch is := slices.Contains(failed, r); {
			case is && i < work:
				deadWorkers++
			case is:
			case !slices.Contains(filled, r):
				t.Fatalf("seed %d: %v lives and isn't a member: %v", seed, r, filled)
			}
		}
		if len(filled) != n-len(failed) {
			t.Fatalf("seed %d: %d of %d members are left, and %d failed", seed, len(filled), n, len(failed))
		}
		liveSpares := spares - (len(failed) - deadWorkers)
		if left != max(0, liveSpares-deadWorkers) {
			t.Fatalf("seed %d: %d spares are left, of %d that live, for %d ranks", seed, left, liveSpares, deadWorkers)
		}
		if deadWorkers > liveSpares {
			continue
		}
		for i, r := range group[:work] {
			if !slices.Contains(failed, r) && filled[i] != r {
				t.Fatalf("seed %d: %v had rank %d: %v", seed, r, i, filled)
			}
		}
	}
}
