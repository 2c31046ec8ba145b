package logp

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
)

// correction runs a case with synchronised checked correction and returns its
// outcome, and how long correction took.
func correction(t *testing.T, s *Simulator, c Case) (Outcome, proto.Time) {
	t.Helper()
	c.Correction, c.Synchronised = broadcast.Checked, true
	outcome, err := s.Run(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Correction, c.Synchronised, c.Failed = broadcast.NoCorrection, false, nil
	tree, err := s.Run(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return outcome, outcome.Quiescence - tree.Coloring
}

// networks are latencies and overheads, also where the latter doesn't divide
// the former.
var networks = []struct{ latency, overhead int }{
	{0, 1}, {1, 1}, {2, 1}, {3, 2}, {5, 1}, {5, 3}, {8, 1}, {1, 4}, {4, 2}, {7, 3},
}

// roundedUp is ⌈L/o⌉, which the paper prints rounded down (ERRATA).
func roundedUp(latency, overhead int) int { return (latency + overhead - 1) / overhead }

// TestLemma2 and corollary 1: without failures, synchronised checked correction
// takes 4o + L + ⌈L/o⌉·o, and everyone sends 3 + ⌈L/o⌉ corrections.
func TestLemma2(t *testing.T) {
	var s Simulator
	for _, n := range networks {
		for _, tree := range []TreeKind{Binomial, Optimal} {
			for _, procs := range []int{64, 100, 1024} {
				outcome, took := correction(t, &s, Case{
					Procs: procs, Latency: n.latency, Overhead: n.overhead, Tree: tree,
				})
				up := roundedUp(n.latency, n.overhead)
				if want := proto.Time(4*n.overhead + n.latency + up*n.overhead); took != want {
					t.Errorf("L=%d o=%d %s, %d processes: correction takes %d, want %d", n.latency, n.overhead, tree, procs, took, want)
				}
				if want := procs - 1 + procs*(3+up); outcome.Messages != want {
					t.Errorf("L=%d o=%d %s, %d processes: %d messages, want %d", n.latency, n.overhead, tree, procs, outcome.Messages, want)
				}
			}
		}
	}
}

// TestErrataRoundedUp is the example that shows the printed formulas to be wrong.
func TestErrataRoundedUp(t *testing.T) {
	outcome, took := correction(t, new(Simulator), Case{Procs: 1024, Latency: 3, Overhead: 2, Tree: Binomial})
	if outcome.Messages != 6143 || took != 15 {
		t.Errorf("%d messages in %d steps, want 6143 in 15", outcome.Messages, took)
	}
}

// TestLemma3: with a longest gap g > 0, correction takes g·o to (2g+1)·o longer,
// and reaches everyone.
func TestLemma3(t *testing.T) {
	var s Simulator
	trees := []Case{{Tree: Binomial}, {Tree: KAry, K: 2}, {Tree: KAry, K: 4}, {Tree: Lame, K: 3}, {Tree: Optimal}, {Tree: Binomial, Numbering: topology.InOrder}}
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 0))
		n := networks[random.IntN(len(networks))]
		c := trees[seed%uint64(len(trees))]
		c.Procs, c.Latency, c.Overhead = 1000+random.IntN(1000), n.latency, n.overhead
		if err := c.FailRandom(1+random.IntN(c.Procs/50), random); err != nil {
			t.Fatal(err)
		}
		outcome, took := correction(t, &s, c)
		if outcome.Unreached != 0 {
			t.Fatalf("seed %d: %d live processes unreached", seed, outcome.Unreached)
		}
		if outcome.MaxGap > c.Procs/10 {
			continue // the lemma assumes P ≫ g
		}
		fault := 4*n.overhead + n.latency + roundedUp(n.latency, n.overhead)*n.overhead
		low := proto.Time(fault + outcome.MaxGap*n.overhead)
		high := proto.Time(fault + (2*outcome.MaxGap+1)*n.overhead)
		if took < low || took > high {
			t.Errorf("seed %d, L=%d o=%d %s, gap %d: correction takes %d, want %d to %d",
				seed, n.latency, n.overhead, c.Tree, outcome.MaxGap, took, low, high)
		}
	}
}
