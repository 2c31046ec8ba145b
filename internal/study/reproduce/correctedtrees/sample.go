package correctedtrees

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// sample is a sample of whole numbers: how often each came. All that is
// computed of it is exact, and doesn't depend on the order in which they came.
type sample map[int]int

func (s sample) size() int {
	n := 0
	for _, times := range s {
		n += times
	}
	return n
}

// sorted returns the values, ascending, and their weights, as gonum wants them.
func (s sample) sorted() (values, weights []float64) {
	for _, v := range slices.Sorted(maps.Keys(s)) {
		values = append(values, float64(v))
		weights = append(weights, float64(s[v]))
	}
	return values, weights
}

// merge adds all of another sample.
func (s sample) merge(t sample) {
	for v, times := range t {
		s[v] += times
	}
}

func (s sample) mean() float64 {
	values, weights := s.sorted()
	return stat.Mean(values, weights)
}

// deviation is the standard deviation, with n-1; 0 for fewer than two.
func (s sample) deviation() float64 {
	if s.size() < 2 {
		return 0
	}
	values, weights := s.sorted()
	return stat.StdDev(values, weights)
}

// quantile is the smallest value that at least the share q of all don't exceed.
func (s sample) quantile(q float64) float64 {
	values, weights := s.sorted()
	return stat.Quantile(q, stat.Empirical, values, weights)
}

func (s sample) max() int { return slices.Max(slices.Collect(maps.Keys(s))) }

// above is how many are greater than a limit.
func (s sample) above(limit int) int {
	n := 0
	for v, times := range s {
		if v > limit {
			n += times
		}
	}
	return n
}

// z is the 97.5 % quantile of the normal distribution: intervals are of 95 %.
const z = 1.959964

// meanInterval is half of the 95 % confidence interval of the mean: the normal
// approximation, fit for the hundreds of runs that there are.
func (s sample) meanInterval() float64 {
	return z * s.deviation() / math.Sqrt(float64(s.size()))
}

// quantileInterval is the 95 % confidence interval of a quantile, without any
// assumption on the distribution: the order statistics between whose ranks the
// number of values below the true quantile lies, by the normal approximation of
// the binomial distribution. high is +Inf where the sample is too small to bound it.
func (s sample) quantileInterval(q float64) (low, high float64) {
	n := float64(s.size())
	d := z * math.Sqrt(q*(1-q)/n)
	if high = math.Inf(1); q+d+1/n < 1 {
		high = s.quantile(q + d + 1/n)
	}
	return s.quantile(max(0, q-d)), high
}

// interval writes one for people.
func interval(low, high float64) string {
	if math.IsInf(high, 1) {
		return fmt.Sprintf("%g or more", low)
	}
	return fmt.Sprintf("%g–%g", low, high)
}

// shareInterval is Wilson's 95 % confidence interval of a share: k of n.
func shareInterval(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p, m := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, centre-half), min(1, centre+half)
}
