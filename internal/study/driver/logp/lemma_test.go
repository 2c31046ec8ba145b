package logp

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/testing/explore"
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

// networks are latencies and overheads, including some where o doesn't divide L.
var networks = []struct{ latency, overhead int }{
	{0, 1}, {1, 1}, {2, 1}, {3, 2}, {5, 1}, {5, 3}, {8, 1}, {1, 4}, {4, 2}, {7, 3},
}

// roundedUp is ⌈L/o⌉. The paper prints it rounded down.
func roundedUp(latency, overhead int) int { return (latency + overhead - 1) / overhead }

// faultFree is lemma 2, how long synchronised checked correction takes without failures, and
// corollary 1, how many corrections every process sends.
func faultFree(c *Case) (took proto.Time, each int) {
	up := roundedUp(c.Latency, c.Overhead)
	return proto.Time(4*c.Overhead + c.Latency + up*c.Overhead), 3 + up
}

// checkLemma2 compares a broadcast without failures with lemma 2 and corollary 1.
func checkLemma2(t *testing.T, s *Simulator, c Case) {
	t.Helper()
	outcome, took := correction(t, s, c)
	want, each := faultFree(&c)
	if messages := c.Procs - 1 + c.Procs*each; took != want || outcome.Messages != messages {
		t.Errorf("%s: correction takes %d, want %d; %d messages, want %d", c.Describe(), took, want, outcome.Messages, messages)
	}
}

// TestLemma2 also checks corollary 1: without failures, synchronised checked correction takes
// 4o + L + ⌈L/o⌉·o, and every process sends 3 + ⌈L/o⌉ corrections. That number is the least P
// for which both hold, and they hold for every P from there on.
func TestLemma2(t *testing.T) {
	var s Simulator
	for _, n := range networks {
		for _, tree := range []TreeKind{Binomial, Optimal} {
			c := Case{Latency: n.latency, Overhead: n.overhead, Tree: tree}
			_, least := faultFree(&c)
			for c.Procs = least; c.Procs < least+40; c.Procs++ {
				checkLemma2(t, &s, c)
			}
			for _, c.Procs = range []int{100, 1024} {
				checkLemma2(t, &s, c)
			}
			c.Procs = least - 1
			if outcome, _ := correction(t, &s, c); outcome.Messages == c.Procs-1+c.Procs*least {
				t.Errorf("L=%d o=%d: corollary 1 holds for %d processes too", n.latency, n.overhead, c.Procs)
			}
		}
	}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		c := randomLemmaCase(random)
		c.Latency, c.Overhead = random.IntN(100), 1+random.IntN(20)
		c.Procs += 3 + roundedUp(c.Latency, c.Overhead)
		checkLemma2(t, &s, c)
	}
}

// TestErrataRoundedUp is the example that shows the printed formulas to be wrong.
func TestErrataRoundedUp(t *testing.T) {
	outcome, took := correction(t, new(Simulator), Case{Procs: 1024, Latency: 3, Overhead: 2, Tree: Binomial})
	if outcome.Messages != 6143 || took != 15 {
		t.Errorf("%d messages in %d steps, want 6143 in 15", outcome.Messages, took)
	}
}

// randomLemmaCase is any tree with any numbering, few or many processes, on any network,
// without dead processes.
func randomLemmaCase(random *rand.Rand) Case {
	trees := []Case{{Tree: Binomial}, {Tree: KAry, K: 2 + random.IntN(6)}, {Tree: Lame, K: 1 + random.IntN(4)}, {Tree: Optimal}}
	c := trees[random.IntN(len(trees))]
	c.Latency, c.Overhead = random.IntN(12), 1+random.IntN(5)
	c.Procs = 4 + random.IntN([]int{40, 200, 2000}[random.IntN(3)])
	if random.IntN(3) == 0 {
		c.Numbering = topology.InOrder
	}
	return c
}

// TestLemma3: with a longest gap g > 0, correction takes g·o to (2g+1)·o longer than lemma 2
// says, and reaches every live process. The paper assumes P ≫ g; that may mean P > 2g + 4 +
// ⌈L/o⌉, for no case is known that needs more. Some random processes are dead, or some in a
// row, or both. It runs 3,000 cases, or 300,000 with BANYAN_EXPLORE=long; one can be run again
// by its seed.
func TestLemma3(t *testing.T) {
	var s Simulator
	cases := uint64(3000)
	if explore.Long() {
		cases = 300_000
	}
	if testing.Short() {
		cases /= 10
	}
	covered := 0
	for seed := range cases {
		random := rand.New(rand.NewPCG(seed, 0))
		c := randomLemmaCase(random)
		if random.IntN(2) == 0 {
			first := 1 + random.IntN(c.Procs-1)
			for p := first; p < min(c.Procs, first+1+random.IntN(1+c.Procs/8)); p++ {
				c.Failed = append(c.Failed, p)
			}
		}
		if err := c.FailRandom(random.IntN(1+c.Procs/[]int{5, 20, 200}[random.IntN(3)])*(c.Procs-1-len(c.Failed))/c.Procs, random); err != nil {
			t.Fatal(err)
		}
		outcome, took := correction(t, &s, c)
		if outcome.Unreached != 0 {
			t.Fatalf("seed %d: %d live processes unreached", seed, outcome.Unreached)
		}
		without, each := faultFree(&c)
		if outcome.MaxGap == 0 || c.Procs <= 2*outcome.MaxGap+each+1 {
			continue
		}
		covered++
		overhead := proto.Time(c.Overhead)
		low, high := without+proto.Time(outcome.MaxGap)*overhead, without+proto.Time(2*outcome.MaxGap+1)*overhead
		if took < low || took > high {
			t.Errorf("seed %d, %s, gap %d: correction takes %d, want %d to %d", seed, c.Describe(), outcome.MaxGap, took, low, high)
		}
	}
	if covered < int(cases)/3 {
		t.Errorf("only %d of %d cases have a gap, and enough processes for it", covered, cases)
	}
}
