package incremental

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// TestLemma3 checks lemma 3 at the paper's size, L = 2 and o = 1, for its trees and its failure
// rates: with a longest gap g, correction takes 8 + g to 8 + 2g + 1 steps (8 without a gap) and
// reaches every live process. It runs 400 broadcasts, or 20,000 with BANYAN_EXPLORE=long.
// Package logp, whose engine runs the machines, tests small systems and other networks.
func TestLemma3(t *testing.T) {
	runs := 20
	if explore.Long() {
		runs = 1000
	}
	if testing.Short() {
		runs = 2
	}
	const procs, without = 1 << 16, 8
	for i, c := range paperTrees(procs) {
		e, err := New(&c)
		if err != nil {
			t.Fatal(err)
		}
		for _, dead := range []int{7, 66, 655, 1311, 2621} {
			for seed := range uint64(runs) {
				c.Failed = nil
				if err := c.FailRandom(dead, rand.NewPCG(seed, uint64(i*procs+dead))); err != nil {
					t.Fatal(err)
				}
				o, err := e.Run(c.Failed)
				if err != nil {
					t.Fatal(err)
				}
				took, gap := o.Quiescence-e.start, proto.Time(o.MaxGap)
				if o.Unreached != 0 || took < without+gap || took > without+2*gap+1 {
					t.Errorf("%s, %d dead, seed %d: gap %d, correction takes %d; %d unreached", c.Tree, dead, seed, gap, took, o.Unreached)
				}
			}
		}
	}
}
