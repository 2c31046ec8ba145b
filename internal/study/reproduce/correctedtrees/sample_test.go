package correctedtrees

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSample(t *testing.T) {
	s := sample{1: 2, 4: 1, 7: 1} // 1 1 4 7
	if s.size() != 4 || s.mean() != 3.25 || s.max() != 7 || s.above(1) != 2 {
		t.Errorf("size %d, mean %g, max %d, above 1 %d", s.size(), s.mean(), s.max(), s.above(1))
	}
	if want := math.Sqrt((2*2.25*2.25 + 0.75*0.75 + 3.75*3.75) / 3); math.Abs(s.deviation()-want) > 1e-12 {
		t.Errorf("deviation %g, want %g", s.deviation(), want)
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 1, 0.51: 4, 0.75: 4, 0.76: 7, 1: 7} {
		if got := s.quantile(q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if d := (sample{5: 1}).deviation(); d != 0 {
		t.Errorf("the deviation of one value is %g", d)
	}
}

// TestIntervals: nearly 95 % of intervals hold the true value.
func TestIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const tries, n, p = 1000, 400, 0.02
	mean, quantile, share := 0, 0, 0
	// Uniform values of 0…999: the mean is 499.5, the 95 % quantile 949 (950 of 1,000 are at most
	// that).
	for range tries {
		s, hits := sample{}, 0
		for range n {
			s[random.IntN(1000)]++
			if random.Float64() < p {
				hits++
			}
		}
		if half := s.meanInterval(); math.Abs(s.mean()-499.5) <= half {
			mean++
		}
		if low, high := s.quantileInterval(0.95); low <= 949 && 949 <= high {
			quantile++
		}
		if low, high := shareInterval(hits, n); low <= p && p <= high {
			share++
		}
	}
	for name, hits := range map[string]int{"mean": mean, "quantile": quantile, "share": share} {
		if rate := float64(hits) / tries; rate < 0.93 || rate > 0.985 {
			t.Errorf("%s: %.3f of the intervals hold the value", name, rate)
		}
	}
	if low, high := (sample{3: 10}).quantileInterval(0.99); low != 3 || !math.IsInf(high, 1) {
		t.Errorf("the 99 %% quantile of ten values is in %g to %g", low, high)
	}
	if low, high := shareInterval(0, 0); low != 0 || high != 1 {
		t.Errorf("of nothing: %g to %g", low, high)
	}
}

// TestDeviationRatio: the interval holds the true ratio nearly as often as it says.
func TestDeviationRatio(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	hits := 0
	const tries = 500
	for range tries {
		from, to := sample{}, sample{}
		for range 500 {
			from[int(math.Round(random.NormFloat64()*100))]++
			to[int(math.Round(random.NormFloat64()*700))]++
		}
		if _, low, high := deviationRatio(from, to); low <= 7 && 7 <= high {
			hits++
		}
	}
	if rate := float64(hits) / tries; rate < 0.92 || rate > 0.98 {
		t.Errorf("%.3f of the intervals hold the ratio", rate)
	}
}

func TestGrowth(t *testing.T) {
	if grown, half := growth(sample{50: 9}, sample{56: 9}); math.Abs(grown-12) > 1e-9 || half != 0 {
		t.Errorf("%g ± %g", grown, half)
	}
}

func TestBounds(t *testing.T) {
	var got []int
	for _, gap := range []int{0, 1, 2, 20} {
		low, high := bounds(gap)
		got = append(got, low, high)
	}
	if want := []int{8, 8, 9, 11, 10, 13, 28, 49}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
