package ratio

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The figures are those of tables of Wilcoxon's test for two sides and 5 %: a sum is rejected up
// to 0, 3, 8, 52, 137 and 264, and none for 5 values.
func TestRejected(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 1, 8: 4, 10: 9, 20: 53, 30: 138, 40: 265} {
		if got := rejected(n); got != want {
			t.Errorf("of %d values: %d, want %d", n, got, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	if e := Of(nil); !math.IsNaN(e.Ratio) {
		t.Errorf("of nothing: %v", e)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	if e := Of([]float64{2, 8}); !near(e.Ratio, 4) || !math.IsNaN(e.From) || !math.IsNaN(e.To) {
		t.Errorf("of 2 and 8, whose means are 2, 4 and 8: %v", e)
	}
	// Of six values the ends are the least and the greatest mean, which are the least and the
	// greatest value.
	if e := Of([]float64{16, 1, 32, 2, 8, 4}); !near(e.From, 1) || !near(e.To, 32) || !near(e.Ratio, math.Sqrt(32)) {
		t.Errorf("of the powers of two up to 32: %v", e)
	}
	// An outlier counts as the largest value, however large it is.
	values := []float64{.97, .98, .99, 1, 1.01, 1.02, 1.03, 1.04}
	before := Of(values)
	values[7] = 50
	if e := Of(values); math.Abs(e.Ratio-before.Ratio) > .01 {
		t.Errorf("%v with a value that is far off, %v before", e, before)
	}
}

// weather is what a machine does beside the work. It gets slower with each run, its speed walks
// at random, or jumps and stays for some runs; or single runs are outliers (Student's t with 2
// degrees of freedom in place of a normal error).
type weather struct {
	slower, walks, jumps float64
	far                  bool
}

// drawn are ratios like those of a benchmark's rounds, AB, BA, AB, BA…: the second takes 5 %
// longer. Each run is off by some 5 %.
func drawn(r *rand.Rand, rounds int, w weather) []float64 {
	speed, level := 0.0, 0.0
	run := func() float64 {
		speed += w.slower + w.walks*r.NormFloat64()
		if r.Float64() < .15 {
			level = w.jumps * r.Float64()
		}
		off := .05 * r.NormFloat64()
		if w.far {
			off /= math.Sqrt(r.ExpFloat64())
		}
		return math.Exp(speed + level + off)
	}
	var ratios []float64
	for round := range rounds {
		var times [2]float64
		for _, k := range InTurn([]int{0, 1}, round) {
			times[k] = run()
		}
		ratios = append(ratios, 1.05*times[1]/times[0])
	}
	return ratios
}

// orderStatistics is the interval of the median that Of replaces.
func orderStatistics(values []float64) (from, to float64) {
	n := len(values)
	below := distuv.Binomial{N: float64(n), P: .5}
	i := 0
	for 2*below.CDF(float64(i)) <= .05 {
		i++
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[i-1], sorted[n-i]
}

// The interval contains the truth in 95 of 100 cases, however the machine's speed changes. It
// is narrower than the median's, or no wider where single runs are outliers.
func TestEstimateWithDrift(t *testing.T) {
	const draws, rounds = 2000, 20
	for _, c := range []struct {
		name     string
		weather  weather
		narrower float64
	}{
		{"steady", weather{}, .9}, {"slower", weather{slower: .02}, .9}, {"walks", weather{walks: .05}, .9},
		{"jumps", weather{jumps: .3}, .9}, {"far off", weather{far: true}, 1},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		var covered int
		var square float64
		var widths, medians []float64
		for range draws {
			ratios := drawn(r, rounds, c.weather)
			e := Of(ratios)
			if e.From <= 1.05 && 1.05 <= e.To {
				covered++
			}
			square += (e.Ratio - 1.05) * (e.Ratio - 1.05)
			from, to := orderStatistics(ratios)
			widths, medians = append(widths, e.To-e.From), append(medians, to-from)
		}
		slices.Sort(widths)
		slices.Sort(medians)
		coverage, narrower := float64(covered)/draws, widths[draws/2]/medians[draws/2]
		t.Logf("%s: covered %.3f, off by %.1f %%, width %.1f %%, of the median's %.2f", c.name, coverage, 100*math.Sqrt(square/draws), 100*widths[draws/2], narrower)
		if coverage < .935 || narrower > c.narrower {
			t.Errorf("%s: the truth is in %.1f %% of the intervals, which are %.2f times as wide as the median's", c.name, 100*coverage, narrower)
		}
	}
}

// TestEnough: rounds that end when the interval is narrow give intervals that contain the truth
// about as often as those of a fixed number, and fewer rounds where the machine is steady.
func TestEnough(t *testing.T) {
	const draws, most, width = 400, 60, .06
	steady := 0.0
	for _, c := range []struct {
		name    string
		weather weather
	}{{"steady", weather{}}, {"walks", weather{walks: .02}}, {"jumps", weather{jumps: .8}}} {
		r := rand.New(rand.NewPCG(3, 1))
		covered, rounds := 0, 0
		for range draws {
			ratios, n := drawn(r, most, c.weather), 2
			for n < most && !Enough(ratios[:n], width) {
				n += 2
			}
			if e := Of(ratios[:n]); e.From <= 1.05 && 1.05 <= e.To {
				covered++
			}
			rounds += n
		}
		coverage, mean := float64(covered)/draws, float64(rounds)/draws
		t.Logf("%s: covered %.3f, after %.1f rounds", c.name, coverage, mean)
		if coverage < .92 {
			t.Errorf("%s: the truth is in %.1f %% of the intervals", c.name, 100*coverage)
		}
		switch {
		case steady == 0:
			steady = mean
			if mean > most/2 {
				t.Errorf("%.1f rounds of %d on a steady machine", mean, most)
			}
		case mean <= steady:
			t.Errorf("%s: %.1f rounds, and %.1f on a steady machine", c.name, mean, steady)
		}
	}
	same := slices.Repeat([]float64{1}, Least+1)
	if Enough(same[:Least-1], .01) || !Enough(same[:Least], .01) || Enough(same, .01) || Enough(nil, 1) {
		t.Error("want an even number of rounds, and not too few")
	}
}

// Without the other order in every second round a drift would count as an overhead.
func TestTurnsCancelDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	off := func(turn func(round int) int) float64 {
		sum := 0.0
		for range 200 {
			var ratios []float64
			speed := 0.0
			for round := range 20 {
				var times [2]float64
				for _, k := range InTurn([]int{0, 1}, turn(round)) {
					speed += .02
					times[k] = math.Exp(speed + .02*r.NormFloat64())
				}
				ratios = append(ratios, times[1]/times[0])
			}
			sum += Of(ratios).Ratio - 1
		}
		return math.Abs(sum / 200)
	}
	if turned, same := off(func(round int) int { return round }), off(func(int) int { return 0 }); turned > .003 || same < .015 {
		t.Errorf("off by %.2f %% in turn, %.2f %% in the same order", 100*turned, 100*same)
	}
}
