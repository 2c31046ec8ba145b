package main

import "fmt"

// point is a position or an extent in the three directions.
type point [3]int

// decomposition says how a job's ranks divide a cube among them: as a box of ranks.
type decomposition struct{ ranks point }

// decompose chooses the box with the least surface between blocks. Of equal ones it chooses the
// first.
func decompose(ranks int) decomposition {
	var best point
	least := -1
	for x := 1; x <= ranks; x++ {
		if ranks%x != 0 {
			continue
		}
		for y := 1; y <= ranks/x; y++ {
			if ranks/x%y != 0 {
				continue
			}
			z := ranks / x / y
			if cuts := x + y + z; least < 0 || cuts < least {
				best, least = point{x, y, z}, cuts
			}
		}
	}
	return decomposition{best}
}

// at is the position of a rank in the box. Ranks are counted along the last direction first.
func (d decomposition) at(rank int) point {
	return point{rank / d.ranks[2] / d.ranks[1], rank / d.ranks[2] % d.ranks[1], rank % d.ranks[2]}
}

// rank is the rank at a position, -1 outside the box.
func (d decomposition) rank(p point) int {
	for i := range p {
		if p[i] < 0 || p[i] >= d.ranks[i] {
			return -1
		}
	}
	return (p[0]*d.ranks[1]+p[1])*d.ranks[2] + p[2]
}

// block is the part of a cube that a rank owns.
type block struct{ first, count point }

// block is a rank's block of a cube with n points a side, or of a coarser grid. A rank owns the
// coarse points that are its points 2i+1 of the finer grid.
func (d decomposition) block(rank, n, coarser int) block {
	var b block
	for i, at := range d.at(rank) {
		first, end := at*n/d.ranks[i]>>coarser, (at+1)*n/d.ranks[i]>>coarser
		b.first[i], b.count[i] = first, end-first
	}
	return b
}

func (b block) points() int { return b.count[0] * b.count[1] * b.count[2] }

// level is a grid of the hierarchy, as far as a rank owns it. Arrays have a layer of halo around
// the block; beyond the cube that is 0 for ever, the boundary's value.
type level struct {
	n int // points a side of the whole cube
	block
	stride  point     // of the arrays
	u, f, r []float64 // solution, right-hand side, residual
	halo    *halo     // nil: the block is the cube
	next    *level    // coarser; nil: there is none
	gather  *gather   // not nil: next is the same grid, whole at each rank
}

func newLevel(n int, b block) *level {
	l := &level{n: n, block: b}
	l.stride = point{(b.count[1] + 2) * (b.count[2] + 2), b.count[2] + 2, 1}
	size := l.stride[0] * (b.count[0] + 2)
	l.u, l.f, l.r = make([]float64, size), make([]float64, size), make([]float64, size)
	return l
}

// index is the index in the arrays of a point of the block. The halo has coordinates -1 and count.
func (l *level) index(x, y, z int) int { return (x+1)*l.stride[0] + (y+1)*l.stride[1] + z + 1 }

// rows calls f for each row of the block along the last direction, with the index of its first
// point.
func (l *level) rows(f func(x, y, index int)) {
	for x := range l.count[0] {
		for y := range l.count[1] {
			f(x, y, l.index(x, y, 0))
		}
	}
}

// leastCount is the least number of points of a block in each direction on a grid that is divided.
// Coarser grids are whole at every rank.
const leastCount = 2

// newHierarchy makes the grids of this rank, from n = 2^k - 1 points a side down to 1.
func newHierarchy(t *team, n int) (*level, error) {
	if n < 1 || n&(n+1) != 0 {
		return nil, fmt.Errorf("%d points a side: want 1 less than a power of two", n)
	}
	d := decompose(t.size)
	divided := func(coarser int) bool {
		for rank := range t.size {
			for _, count := range d.block(rank, n, coarser).count {
				if count < leastCount {
					return false
				}
			}
		}
		return true
	}
	if t.size == 1 {
		return whole(n), nil
	}
	if !divided(0) {
		return nil, fmt.Errorf("%d points a side are too few for %d ranks", n, t.size)
	}
	var top, last *level
	for coarser := 0; divided(coarser); coarser++ {
		l := newLevel(n>>coarser, d.block(t.rank, n, coarser))
		l.halo = newHalo(t, d, l)
		if last == nil {
			top = l
		} else {
			last.next = l
		}
		last = l
	}
	last.next = whole(last.n)
	last.gather = &gather{team: t}
	coarser := 0
	for n>>coarser > last.n {
		coarser++
	}
	for rank := range t.size {
		b := d.block(rank, n, coarser)
		last.gather.blocks = append(last.gather.blocks, b)
		last.gather.counts = append(last.gather.counts, b.points())
	}
	return top, nil
}

// whole makes the hierarchy of grids that aren't divided.
func whole(n int) *level {
	l := newLevel(n, block{count: point{n, n, n}})
	if n > 1 {
		l.next = whole(n / 2)
	}
	return l
}
