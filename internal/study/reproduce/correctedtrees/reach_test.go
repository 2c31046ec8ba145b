package correctedtrees

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
)

// TestReach: as many live processes stay uncoloured as in the engine, on random trees with many
// dead processes, where that happens often.
func TestReach(t *testing.T) {
	var engine logp.Simulator
	left := 0
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 0))
		shape := trees[random.IntN(len(trees))]
		c := shape.broadcastCase(3+random.IntN(300), opportunistic(broadcast.SkipAhead, 1))
		if err := c.FailRandom(random.IntN(1+c.Procs*2/3), random); err != nil {
			t.Fatal(err)
		}
		topology, err := shape.shape(c.Procs)
		if err != nil {
			t.Fatal(err)
		}
		r := newReach(&topology)
		for range 2 { // the second time shows whether the first left something behind
			for d, got := range r.unreached(nil, c.Failed, []int{1, 2, 4}) {
				if c.Distance = 1 << d; c.Distance >= c.Procs {
					continue
				}
				want, err := engine.Run(&c, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got != want.Unreached {
					t.Fatalf("seed %d, %s, %d processes, distance %d: %d unreached, the engine says %d", seed, shape.name, c.Procs, c.Distance, got, want.Unreached)
				}
				left += got
				if c.Correction = broadcast.Opportunistic; seed%2 == 0 {
					c.Correction = broadcast.SkipAhead
				} else if seed%4 == 1 {
					c.Correction = broadcast.Ordered
				}
			}
		}
	}
	if left == 0 {
		t.Error("nobody was ever left")
	}
}
