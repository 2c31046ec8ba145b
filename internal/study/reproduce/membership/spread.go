package membership

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// spread is where samples lie.
type spread struct {
	count        int
	mean, median float64
	low, high    float64 // quartiles
	error99      float64 // half of the mean's 99 % confidence interval; infinite of a single sample
}

// spreadOf describes samples, of which there is one at least.
func spreadOf(samples []float64) spread {
	s := slices.Clone(samples)
	slices.Sort(s)
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, s, nil) }
	mean, deviation := stat.MeanStdDev(s, nil)
	x := spread{count: len(s), mean: mean, median: quantile(0.5), low: quantile(0.25), high: quantile(0.75), error99: math.Inf(1)}
	if n := float64(len(s)); n > 1 {
		x.error99 = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.995) * deviation / math.Sqrt(n)
	}
	if len(s)%2 == 1 {
		x.median = s[len(s)/2]
	} else {
		x.median = s[len(s)/2-1]/2 + s[len(s)/2]/2
	}
	x.low, x.high = min(x.low, x.median), max(x.high, x.median)
	return x
}
