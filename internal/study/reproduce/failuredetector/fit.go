package failuredetector

import (
	"fmt"
	"math/bits"

	"gonum.org/v1/gonum/mat"
)

// fit is a least-squares fit of a sum of functions of n.
type fit struct {
	basis []func(n float64) float64
	by    []float64 // what each function is multiplied by
	// explained is R², the share of the values' variance that the fit explains.
	explained float64
}

// newFit fits values at sizes, of which there are more than functions.
func newFit(sizes []int, values []float64, basis ...func(n float64) float64) (fit, error) {
	a := mat.NewDense(len(sizes), len(basis), nil)
	for i, n := range sizes {
		for j, f := range basis {
			a.Set(i, j, f(float64(n)))
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(len(values), values)); err != nil {
		return fit{}, fmt.Errorf("fit of %d values: %w", len(values), err)
	}
	f := fit{basis: basis, by: x.RawVector().Data}
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	residual, total := 0.0, 0.0
	for i, n := range sizes {
		residual += square(values[i] - f.at(float64(n)))
		total += square(values[i] - mean)
	}
	f.explained = 1
	if total > 0 {
		f.explained = 1 - residual/total
	}
	return f, nil
}

func (f *fit) at(n float64) float64 {
	sum := 0.0
	for i, b := range f.basis {
		sum += f.by[i] * b(n)
	}
	return sum
}

func square(x float64) float64 { return x * x }

func constant(float64) float64    { return 1 }
func inverse(n float64) float64   { return 1 / n }
func logarithm(n float64) float64 { return float64(bits.Len(uint(n)) - 1) }

// observers is the mean number of failures but the first that hit its observer, and neighbours
// that of pairs of failures that are neighbours on the ring, for ⌊log2 n⌋ - 1 failures.
func observers(n float64) float64  { return (logarithm(n) - 2) / n }
func neighbours(n float64) float64 { return (logarithm(n) - 1) * (logarithm(n) - 2) / n }
