// Package cart is the arithmetic of Cartesian topologies: ranks and coordinates in row-major
// order, and a balanced choice of dimensions (MPI_Dims_create).
package cart

import (
	"errors"
	"math"
	"slices"
)

// Grid is a Cartesian arrangement of the ranks from 0 to Size-1. The last dimension varies
// fastest.
type Grid struct {
	Dims     []int
	Periodic []bool // by dimension
}

// Size is the number of ranks.
func (g Grid) Size() int {
	n := 1
	for _, d := range g.Dims {
		n *= d
	}
	return n
}

// Coordinates are those of a rank.
func (g Grid) Coordinates(rank int) []int {
	c := make([]int, len(g.Dims))
	for i := len(g.Dims) - 1; i >= 0; i-- {
		c[i] = rank % g.Dims[i]
		rank /= g.Dims[i]
	}
	return c
}

// Rank is the rank at some coordinates. In a periodic dimension, any coordinate is valid. In
// another, ok is false for a coordinate outside the grid.
func (g Grid) Rank(coordinates []int) (rank int, ok bool) {
	for i, c := range coordinates {
		d := g.Dims[i]
		if c < 0 || c >= d {
			if !g.Periodic[i] {
				return 0, false
			}
			c = (c%d + d) % d
		}
		rank = rank*d + c
	}
	return rank, true
}

// Shift is the rank some steps away in a dimension. ok is false if there is none.
func (g Grid) Shift(rank, dimension, steps int) (there int, ok bool) {
	c := g.Coordinates(rank)
	d := g.Dims[dimension]
	if g.Periodic[dimension] {
		steps %= d // no overflow
	} else if steps >= d || steps <= -d {
		return 0, false
	}
	c[dimension] += steps
	return g.Rank(c)
}

// Sub is the grid of the dimensions that are kept, and the number of the subgrid that a rank is
// in. Ranks with the same number form one subgrid, in their order.
func (g Grid) Sub(rank int, keep []bool) (sub Grid, number int) {
	for i, c := range g.Coordinates(rank) {
		if keep[i] {
			sub.Dims = append(sub.Dims, g.Dims[i])
			sub.Periodic = append(sub.Periodic, g.Periodic[i])
		} else {
			number = number*g.Dims[i] + c
		}
	}
	return sub, number
}

// ErrDims says that the given dimensions don't divide the number of ranks.
var ErrDims = errors.New("the dimensions that are given don't divide the number of ranks")

// Balance fills in the dimensions that are 0, so that the product of all is n, the largest
// first. The difference of the largest and the smallest is as small as possible; of several such
// choices the one counts whose smallest is largest, then the one whose second smallest is, and
// so on.
func Balance(n int, dims []int) error {
	free := 0
	for _, d := range dims {
		if d == 0 {
			free++
		} else if d < 0 || n%d != 0 {
			return ErrDims
		} else {
			n /= d
		}
	}
	if free == 0 {
		if n != 1 {
			return ErrDims
		}
		return nil
	}
	factors := spread(n, free)
	for i := range dims {
		if dims[i] == 0 {
			dims[i], factors = factors[0], factors[1:]
		}
	}
	return nil
}

// spread writes n as a product of k factors in descending order, those of Balance.
func spread(n, k int) []int {
	s := search{divisors: divisors(n), factors: make([]int, k)}
	s.from(n, 0)
	return s.best
}

// search tries products of factors.
type search struct {
	divisors []int // of the product, ascending
	factors  []int // the ones tried
	best     []int // nil at first
}

// from tries all factors from position i on, whose product is n.
func (s *search) from(n, i int) {
	k := len(s.factors)
	if i == k-1 {
		if i == 0 || n <= s.factors[i-1] {
			s.factors[i] = n
			s.compare()
		}
		return
	}
	for _, d := range s.divisors {
		if i > 0 && d > s.factors[i-1] {
			return
		}
		if n%d != 0 || !reaches(d, k-i, n) {
			continue
		}
		// The others can't all be larger than their mean, so the difference is at least d less
		// that.
		if s.best != nil && i == 0 && d-root(n/d, k-1) > s.best[0]-s.best[k-1] {
			return
		}
		if s.best != nil && i > 0 && s.factors[0]-d > s.best[0]-s.best[k-1] {
			continue // the others are no larger
		}
		s.factors[i] = d
		s.from(n/d, i+1)
	}
}

// compare keeps the factors if they are better than the best.
func (s *search) compare() {
	if s.best != nil {
		f, b, last := s.factors, s.best, len(s.factors)-1
		better := b[0] - b[last] - f[0] + f[last]
		for i := last; i >= 0 && better == 0; i-- {
			better = f[i] - b[i]
		}
		if better <= 0 {
			return
		}
	}
	s.best = slices.Clone(s.factors)
}

// divisors are those of n, ascending.
func divisors(n int) []int {
	var low, high []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			if low = append(low, d); d < n/d {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

// root is at least the largest number whose power of k is at most n.
func root(n, k int) int { return int(math.Pow(float64(n), 1/float64(k))) + 1 }

// reaches says whether b to the power of k is at least n.
func reaches(b, k, n int) bool {
	for p := 1; k > 0; k-- {
		if p *= b; p >= n {
			return true
		}
		if b == 1 {
			return n <= 1
		}
	}
	return false
}
