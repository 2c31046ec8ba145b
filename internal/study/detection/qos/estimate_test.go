package qos

import (
	"math"
	"math/rand/v2"
	"testing"

	"banyan/internal/study/planning/risk"
)

func TestSummarise(t *testing.T) {
	s := summarise([]float64{4, 1, 3, 2})
	half := z * math.Sqrt(5.0/3/4)
	if s.Count != 4 || s.Mean != 2.5 || math.Abs(s.High-2.5-half) > 1e-12 || s.Median != 2 || s.P99 != 4 || s.Max != 4 {
		t.Errorf("%+v", s)
	}
	if s := summarise([]float64{7}); s.Mean != 7 || !math.IsInf(s.High, 1) {
		t.Errorf("%+v", s)
	}
}

// At the interval's ends, a count as extreme as the observed one has a probability of 2.5 %.
func TestGarwood(t *testing.T) {
	for _, k := range []int{0, 1, 2, 5, 20, 100} {
		low, high := garwood(float64(k))
		if p := 1 - risk.MoreThan(k, high); math.Abs(p-0.025) > 0.002 {
			t.Errorf("%d events: at most so many with probability %g at the upper end", k, p)
		}
		if k > 0 {
			if p := risk.MoreThan(k-1, low); p > 0.027 || k > 1 && p < 0.021 {
				t.Errorf("%d events: at least so many with probability %g at the lower end", k, p)
			}
		}
	}
}

// 95 % of the intervals contain the true rate, of events that come alone or in clusters.
func TestRateCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, cluster := range []int{1, 5} {
		const trials, runs, clusters = 2000, 20, 2.0
		covered := 0
		for range trials {
			events, exposures := make([]int, runs), make([]float64, runs)
			for i := range runs {
				exposures[i] = 10
				for x := rng.ExpFloat64(); x < clusters; x += rng.ExpFloat64() {
					events[i] += cluster
				}
			}
			r := rate(events, exposures)
			if truth := clusters * float64(cluster) / 10; r.Low <= truth && truth <= r.High {
				covered++
			}
		}
		if share := float64(covered) / trials; share < 0.92 || share > 0.985 {
			t.Errorf("clusters of %d: %g of the intervals hold the rate", cluster, share)
		}
	}
	if r := rate([]int{0, 0}, []float64{5, 5}); r.Rate != 0 || r.Low != 0 || math.Abs(r.High-0.3689) > 0.005 {
		t.Errorf("no events: %+v", r)
	}
}
