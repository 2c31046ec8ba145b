package detection

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence of all intervals.
const confidence = 0.95

// Estimate is a figure with its confidence interval. An unknown figure is NaN, or infinite.
type Estimate struct{ Value, Low, High float64 }

// median is the median of values, some of which may be infinite. The interval is that of order
// statistics, which assumes nothing of their distribution; with fewer than six values there is
// none of this confidence, and the ends are NaN.
func median(values []float64) Estimate {
	n := len(values)
	if n == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	s := slices.Clone(values)
	slices.Sort(s)
	e := Estimate{middle(s), math.NaN(), math.NaN()}
	// The median is below the k-th value and above the k-th from the end with
	// the probability of fewer than k heads in n throws each.
	tail, k := 0.0, 0
	for ; k < n/2; k++ {
		tail += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
		if 2*tail > 1-confidence {
			break
		}
	}
	if k > 0 {
		e.Low, e.High = s[k-1], s[n-k]
	}
	return e
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// resamples is how many samples ratio draws.
const resamples = 2000

// ratio is the ratio of two medians, with a bootstrap interval.
func ratio(over, under []float64) Estimate {
	if len(over) == 0 || len(under) == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	e := Estimate{median(over).Value / median(under).Value, math.NaN(), math.NaN()}
	if len(over) < 2 || len(under) < 2 {
		return e
	}
	rng := rand.New(rand.NewPCG(1, 2)) // the same rows give the same interval
	draw := func(from, to []float64) float64 {
		for i := range to {
			to[i] = from[rng.IntN(len(from))]
		}
		slices.Sort(to)
		return middle(to)
	}
	a, b := make([]float64, len(over)), make([]float64, len(under))
	drawn := make([]float64, resamples)
	for i := range drawn {
		drawn[i] = draw(over, a) / draw(under, b)
	}
	slices.Sort(drawn)
	cut := int(float64(resamples) * (1 - confidence) / 2)
	e.Low, e.High = drawn[cut], drawn[resamples-1-cut]
	return e
}

// rate is that of events in an exposure, with the exact interval of a Poisson
// process.
func rate(events int, exposure float64) Estimate {
	if exposure <= 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	quantile := func(k int, p float64) float64 {
		if k == 0 {
			return 0
		}
		return distuv.Gamma{Alpha: float64(k), Beta: 1}.Quantile(p) / exposure
	}
	return Estimate{
		Value: float64(events) / exposure,
		Low:   quantile(events, (1-confidence)/2),
		High:  quantile(events+1, (1+confidence)/2),
	}
}
