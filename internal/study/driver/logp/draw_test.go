package logp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFailRandom(t *testing.T) {
	c := Case{Procs: 10, Failed: []int{3}}
	if err := c.FailRandom(8, rand.NewPCG(1, 0)); err != nil || !slices.Equal(c.Failed, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("%v, %v", c.Failed, err)
	}
	if c.FailRandom(1, rand.NewPCG(1, 0)) == nil || c.FailRandom(-1, rand.NewPCG(1, 0)) == nil {
		t.Error("nobody is left to fail")
	}
}

// TestDrawsAsAShuffle: a seed means the same dead processes for ever, however they are drawn: those
// at the beginning of a Fisher-Yates shuffle of all that are left.
func TestDrawsAsAShuffle(t *testing.T) {
	for _, procs := range []int{1, 2, 64, 1000, 1 << 16} {
		for _, already := range []int{0, 1} {
			for _, count := range []int{0, 1, 7, procs / 100, procs / 9, procs / 8, procs - 1 - already} {
				if already >= procs || count > procs-1-already || count < 0 {
					continue
				}
				c := Case{Procs: procs}
				live := []int{}
				for p := 1; p < procs; p++ {
					if p <= already {
						c.Failed = append(c.Failed, p)
					} else {
						live = append(live, p)
					}
				}
				random := rand.New(rand.NewPCG(7, uint64(count)))
				for i := range count {
					j := i + random.IntN(len(live)-i)
					live[i], live[j] = live[j], live[i]
				}
				want := slices.Sorted(slices.Values(slices.Concat(c.Failed, live[:count])))
				if err := c.FailRandom(count, rand.NewPCG(7, uint64(count))); err != nil || !slices.Equal(c.Failed, want) {
					t.Fatalf("%d of %d processes, %d dead: %v (%v), want %v", count, procs, already, c.Failed, err, want)
				}
			}
		}
	}
}

// BenchmarkFailRandom draws 4 % of the paper's processes.
func BenchmarkFailRandom(b *testing.B) {
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		c := Case{Procs: 1 << 16}
		if err := c.FailRandom(2621, rand.NewPCG(seed, 0)); err != nil {
			b.Fatal(err)
		}
	}
}
