// Package ratio estimates by how much one thing takes longer than another, from the ratios of
// several rounds in which both were measured one after the other.
//
// # Limits
//
// There is no interval from fewer than six rounds.
package ratio

import (
	"math"
	"slices"
)

// Estimate is a ratio with its interval of 95 % confidence; From and To are NaN where there are
// too few values for one.
type Estimate struct{ Ratio, From, To float64 }

// Of is the estimate of Hodges and Lehmann, with the interval that belongs to Wilcoxon's
// signed-rank test: of the logarithms of the values, all means of two, each with itself too,
// sorted; the median of these, and those so far from the ends that the test just doesn't reject
// them.
//
// It supposes that the logarithms lie symmetrically about that of the ratio. Where two settings
// are compared in the order AB, BA, AB, BA, a machine that gets steadily slower or faster raises
// one value as much as it lowers the next: what remains is symmetric. A value that is far off
// moves an estimate no further than any other on its side. The median and its order statistics
// suppose less, but need half as many rounds again for the same interval (TestEstimateWithDrift).
func Of(ratios []float64) Estimate {
	n := len(ratios)
	if n == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	var means []float64
	for i, a := range ratios {
		for _, b := range ratios[:i+1] {
			means = append(means, math.Sqrt(a*b))
		}
	}
	slices.Sort(means)
	m := len(means)
	e := Estimate{math.Sqrt(means[(m-1)/2] * means[m/2]), math.NaN(), math.NaN()}
	if k := rejected(n); k > 0 {
		e.From, e.To = means[k-1], means[m-k]
	}
	return e
}

// Least is how many rounds must be there before an interval's width may end a measurement: of fewer
// it is too often narrow by chance.
const Least = 16

// Enough tells whether rounds are enough for an interval that is no wider than that. It depends on
// the width alone, not on where the interval lies: ending when it lies as one would like it would
// make it lie there. It wants as many rounds in each order (see [InTurn]).
func Enough(ratios []float64, width float64) bool {
	if len(ratios) < Least || len(ratios)%2 == 1 {
		return false
	}
	e := Of(ratios)
	return e.To-e.From <= width
}

// rejected is how many sums of signed ranks of n values, beginning with 0, are as improbable as
// 2.5 % together.
func rejected(n int) int {
	// chance[s] is the probability of the sum s if a coin decides for each rank so far whether it
	// is in the sum.
	chance := make([]float64, n*(n+1)/2+1)
	chance[0] = 1
	for rank := 1; rank <= n; rank++ {
		for s := len(chance) - 1; s >= 0; s-- {
			chance[s] /= 2
			if s >= rank {
				chance[s] += chance[s-rank] / 2
			}
		}
	}
	k := 0
	for sum := chance[0]; sum <= .025; sum += chance[k] {
		k++
	}
	return k
}

// InTurn is the order in which a round runs a list of settings, reversed in every second one. So
// of any two settings each comes first as often as the other, at the same distance.
func InTurn[T any](list []T, round int) []T {
	list = slices.Clone(list)
	if round%2 == 1 {
		slices.Reverse(list)
	}
	return list
}
