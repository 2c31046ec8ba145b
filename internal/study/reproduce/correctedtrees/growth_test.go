package correctedtrees

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
)

// TestLateDissemination: what the report says of the latency of overlapped opportunistic correction
// with faults. It grows since processes that a correction reaches first send to their children,
// late: if they don't, which is synchronised correction, it doesn't grow at all.
func TestLateDissemination(t *testing.T) {
	var engine logp.Simulator
	for i := range trees {
		for _, distance := range distances {
			c := trees[i].broadcastCase(1<<12, opportunistic(broadcast.Opportunistic, distance))
			mean := func(synchronised bool, dead int) float64 {
				const runs = 12
				sum := 0
				for seed := range uint64(runs) {
					c := c
					c.Synchronised = synchronised
					if err := c.FailRandom(dead, rand.NewPCG(seed, 0)); err != nil {
						t.Fatal(err)
					}
					o, err := engine.Run(&c, nil)
					if err != nil {
						t.Fatal(err)
					}
					sum += int(o.Quiescence)
				}
				return float64(sum) / runs
			}
			dead := deadAt(highest(), c.Procs)
			overlapped := mean(false, dead) / mean(false, 0)
			synchronised := mean(true, dead) / mean(true, 0)
			if overlapped < 1.02 || synchronised > 1.005 {
				t.Errorf("%s, distance %d: times %.3f overlapped, %.3f synchronised", trees[i].name, distance, overlapped, synchronised)
			}
		}
	}
}
