// Package cart is the arithmetic of Cartesian topologies: ranks and coordinates in row-major
// order, and a balanced choice of dimensions (MPI_Dims_create).
package cart

import "errors"

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

// Balance fills in the dimensions that are 0, so that the product of all is n. They are as
// close to each other as possible, the largest first.
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
	factors, _ := factor(n, free, n)
	for i := range dims {
		if dims[i] == 0 {
			dims[i], factors = factors[0], factors[1:]
		}
	}
	return nil
}

// factor writes n as a product of k factors of at most limit, in descending order. The first is
// as small as possible, then the second, and so on.
func factor(n, k, limit int) ([]int, bool) {
	if k == 1 {
		return []int{n}, n <= limit
	}
	for first := 1; first <= min(n, limit); first++ {
		if n%first != 0 || !reaches(first, k, n) {
			continue
		}
		if rest, ok := factor(n/first, k-1, first); ok {
			return append([]int{first}, rest...), true
		}
	}
	return nil, false
}

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
