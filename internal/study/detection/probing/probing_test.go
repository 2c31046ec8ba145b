package probing

import (
	"context"
	"math"
	"reflect"
	"testing"
)

// enumerate goes through all outcomes of one round of n nodes. It returns how often each set of
// probed nodes occurs, and the mean of the largest number of probes of one node.
func enumerate(n int) (sets map[uint]float64, most float64) {
	sets = map[uint]float64{}
	total := math.Pow(float64(n-1), float64(n))
	var rec func(node int, set uint, hits []int)
	rec = func(node int, set uint, hits []int) {
		if node == n {
			sets[set] += 1 / total
			top := 0
			for _, h := range hits {
				top = max(top, h)
			}
			most += float64(top) / total
			return
		}
		for target := range n {
			if target != node {
				hits[target]++
				rec(node+1, set|1<<target, hits)
				hits[target]--
			}
		}
	}
	rec(0, 0, make([]int, n))
	return sets, most
}

// meanRounds is the mean number of rounds until the set is full. It is exact except for runs of
// more than 400 rounds: rounds are independent, so the sets' unions are a Markov chain.
func meanRounds(n int, sets map[uint]float64) float64 {
	full := uint(1)<<n - 1
	have := map[uint]float64{0: 1}
	mean := 0.0
	for round := 0; round < 400; round++ {
		mean += 1 - have[full]
		next := map[uint]float64{}
		for a, pa := range have {
			for b, pb := range sets {
				next[a|b] += pa * pb
			}
		}
		have = next
	}
	return mean
}

func simulate(t *testing.T, what func(context.Context, Spec) (Histogram, error), n, runs int) Histogram {
	t.Helper()
	h, err := what(context.Background(), Spec{Nodes: n, Runs: runs, Seed: 1, Workers: 2})
	if err != nil || h.Runs() != runs {
		t.Fatalf("%d runs, %v", h.Runs(), err)
	}
	return h
}

// The simulation agrees with the enumeration of all outcomes, for the smallest systems.
func TestAgainstEnumeration(t *testing.T) {
	for n := 2; n <= 5; n++ {
		sets, most := enumerate(n)
		near := func(what string, h Histogram, want float64) {
			mean, half := h.Mean()
			if math.Abs(mean-want) > 2.5*half+1e-9 { // five standard errors
				t.Errorf("n = %d: %s %g ± %g, exactly %g", n, what, mean, half, want)
			}
		}
		near("rounds", simulate(t, RoundsUntilAll, n, 50_000), meanRounds(n, sets))
		near("most probes", simulate(t, MostProbes, n, 50_000), most)
		near("missed", simulate(t, Missed, n, 50_000), float64(n)*Unprobed(n))
	}
}

// The exact p(n) agrees with the simulated one and with the text's values.
func TestUnprobed(t *testing.T) {
	for _, n := range []int{2, 10, 100, 1000} {
		h := simulate(t, Missed, n, 2000)
		mean, half := h.Mean()
		if want := float64(n) * Unprobed(n); math.Abs(mean-want) > 2.5*half+1e-9 {
			t.Errorf("n = %d: %g ± %g nodes not probed, exactly %g", n, mean, half, want)
		}
	}
	if got := math.Round(PrintedUnprobed(100_000)*1e6) / 1e6; got != 0.367881 {
		t.Errorf("p(100,000) as printed: %g, the text says 0.367881", got)
	}
	// The text's 1/e ≈ 0.367894 is a misprint: both forms tend to 0.367879.
	for _, p := range []func(int) float64{Unprobed, PrintedUnprobed} {
		if got := p(1 << 30); math.Abs(got-1/math.E) > 1e-9 {
			t.Errorf("p tends to %g, not to 1/e", got)
		}
	}
	if got := math.Round(100_000 * PrintedUnprobed(100_000)); got != 36_788 {
		t.Errorf("%g nodes are not probed, the text says 36,788", got)
	}
}

// The text's rounds are 20.7, so 21, for a risk of 1e-9. That is the risk that one given node
// is missed; for any of 100,000 nodes it takes 33 rounds.
func TestRoundsForRisk(t *testing.T) {
	one, all := RoundsForOne(100_000, 1e-9), RoundsForAll(100_000, 1e-9)
	if math.Round(one*10)/10 != 20.7 || math.Ceil(one) != 21 {
		t.Errorf("%g rounds, the text says 20.7", one)
	}
	if math.Ceil(all) != 33 {
		t.Errorf("%g rounds until none of all is missed, want 33", all)
	}
	if got := math.Pow(Unprobed(500), RoundsForOne(500, 1e-6)); math.Abs(got/1e-6-1) > 1e-9 {
		t.Errorf("the risk after so many rounds is %g", got)
	}
	if RoundsForOne(2, 1e-9) != 1 || MeanRounds(2) != 1 {
		t.Error("two nodes need one round")
	}
}

// Figures 6 and 7 where the text gives numbers, with fewer runs than its 10,000.
func TestPaperFigures(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 20
	}
	for _, c := range []struct{ nodes, rounds int }{{20_000, 11}, {100_000, 13}} {
		h := simulate(t, RoundsUntilAll, c.nodes, runs)
		mean, half := h.Mean()
		if math.Round(mean) != float64(c.rounds) && math.Abs(mean-float64(c.rounds)) > half {
			t.Errorf("%d nodes: %g ± %g rounds, the text says %d", c.nodes, mean, half, c.rounds)
		}
		if want := MeanRounds(c.nodes); math.Abs(mean-want) > 2.5*half {
			t.Errorf("%d nodes: %g ± %g rounds, independent nodes would take %g", c.nodes, mean, half, want)
		}
	}
	h := simulate(t, MostProbes, 100_000, 10*runs)
	low, high := MostBounds(100_000)
	if math.Round(low*10) != 47 || math.Round(high*10) != 141 {
		t.Errorf("bounds %g and %g, the text says 4.7 and 14.1", low, high)
	}
	if h.Quantile(0) < 5 || h.Quantile(1) > 12 {
		t.Errorf("5 to 11 probes on one node, the text says; simulated %d to %d", h.Quantile(0), h.Quantile(1))
	}
}

// More nodes take more rounds. The same seed gives the same runs with any number of workers.
func TestMonotoneAndReproducible(t *testing.T) {
	last := 0.0
	for n := 2; n < 1<<20; n *= 4 {
		mean := MeanRounds(n)
		if mean < last {
			t.Errorf("%d nodes: %g rounds after %g", n, mean, last)
		}
		last = mean
	}
	for _, what := range []func(context.Context, Spec) (Histogram, error){RoundsUntilAll, MostProbes, Missed} {
		one, err1 := what(context.Background(), Spec{Nodes: 300, Runs: 200, Seed: 7, Workers: 1})
		three, err3 := what(context.Background(), Spec{Nodes: 300, Runs: 200, Seed: 7, Workers: 3})
		if err1 != nil || err3 != nil || !reflect.DeepEqual(one, three) {
			t.Errorf("%v with one worker, %v with three", one, three)
		}
		other, _ := what(context.Background(), Spec{Nodes: 300, Runs: 200, Seed: 8, Workers: 1})
		if reflect.DeepEqual(one, other) {
			t.Error("the seed has no effect")
		}
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	for _, x := range []int{3, 5, 5, 7} {
		h.Add(x, 1)
	}
	mean, half := h.Mean()
	if mean != 5 || math.Abs(half-1.96*math.Sqrt(8.0/3/4)) > 1e-12 {
		t.Errorf("mean %g ± %g", mean, half)
	}
	for q, want := range map[float64]int{0: 3, 0.25: 3, 0.26: 5, 0.75: 5, 0.76: 7, 1: 7} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %g: %d, want %d", q, got, want)
		}
	}
	for _, bad := range []Spec{{Nodes: 1, Runs: 1}, {Nodes: 2, Runs: 0}} {
		if _, err := MostProbes(context.Background(), bad); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}
