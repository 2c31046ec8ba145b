package main

import "math"

// The system is A·u = f on the inner points of a cube, u being 0 on its boundary. A has 26 on its
// diagonal and −1 for each of the 26 points around: 9h² times the negative Laplacian, to first
// order, h being 1/(n+1).
//
// Every point is computed by the same operations in the same order, however the cube is divided. So
// solutions are equal to the bit on any number of ranks.

// around is the sum over a point and the 26 around it, along a row.
func (l *level) around(array []float64, index int) float64 {
	sum := 0.0
	for x := index - l.stride[0]; x <= index+l.stride[0]; x += l.stride[0] {
		for y := x - l.stride[1]; y <= x+l.stride[1]; y += l.stride[1] {
			sum += array[y-1] + array[y] + array[y+1]
		}
	}
	return sum
}

// exchange fills the halo of an array.
func (l *level) exchange(array []float64) error {
	if l.halo == nil {
		return nil
	}
	return l.halo.exchange(l, array)
}

// smooth is a step of Jacobi's method, damped by 26/27. It leaves a third of all errors that a
// coarser grid can't represent.
func (l *level) smooth() error {
	if err := l.exchange(l.u); err != nil {
		return err
	}
	l.rows(func(_, _, index int) {
		for i := index; i < index+l.count[2]; i++ {
			l.r[i] = (l.f[i] + l.around(l.u, i)) / 27
		}
	})
	l.u, l.r = l.r, l.u
	return nil
}

// residual computes r = f − A·u, and its largest magnitude here.
func (l *level) residual() (float64, error) {
	if err := l.exchange(l.u); err != nil {
		return 0, err
	}
	largest := 0.0
	l.rows(func(_, _, index int) {
		for i := index; i < index+l.count[2]; i++ {
			l.r[i] = l.f[i] + l.around(l.u, i) - 27*l.u[i]
			largest = max(largest, math.Abs(l.r[i]))
		}
	})
	return largest, nil
}

// weight is the weight of a fine point in a coarse one, and the reverse, by the number of
// directions in which the two differ.
var weight = [4]float64{1, 0.5, 0.25, 0.125}

// restrict makes the coarser grid's right-hand side of r, by full weighting. On a grid of twice the
// spacing A is a quarter as large for the same function, hence the factor 4 over 8, the sum of the
// weights.
func (l *level) restrict() error {
	if err := l.exchange(l.r); err != nil {
		return err
	}
	c := l.next
	c.rows(func(x, y, index int) {
		for z := range c.count[2] {
			// Coarse point i is fine point 2i+1.
			at := l.index(2*(c.first[0]+x)+1-l.first[0], 2*(c.first[1]+y)+1-l.first[1], 2*(c.first[2]+z)+1-l.first[2])
			sum := 0.0
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					for dz := -1; dz <= 1; dz++ {
						sum += weight[dx*dx+dy*dy+dz*dz] * l.r[at+dx*l.stride[0]+dy*l.stride[1]+dz]
					}
				}
			}
			c.f[index+z] = sum / 2
		}
	})
	return nil
}

// prolong adds the coarser grid's u, interpolated, to this one's.
func (l *level) prolong() error {
	c := l.next
	if err := c.exchange(c.u); err != nil {
		return err
	}
	// sides returns the coarse points on both sides of a fine point. They are the same if the fine
	// point is a coarse one.
	sides := func(fine, first int) (low, high int) {
		return (fine+1)/2 - 1 - first, fine/2 - first
	}
	l.rows(func(x, y, index int) {
		x0, x1 := sides(l.first[0]+x, c.first[0])
		y0, y1 := sides(l.first[1]+y, c.first[1])
		for z := range l.count[2] {
			z0, z1 := sides(l.first[2]+z, c.first[2])
			sum := 0.0
			for _, cx := range [2]int{x0, x1} {
				for _, cy := range [2]int{y0, y1} {
					at := c.index(cx, cy, 0)
					sum += c.u[at+z0] + c.u[at+z1]
				}
			}
			l.u[index+z] += sum / 8
		}
	})
	return nil
}

// sweeps is how many smoothing steps come before and after each correction.
const sweeps = 2

// cycle improves u by a V-cycle.
func (l *level) cycle() error {
	if l.n == 1 {
		i := l.index(0, 0, 0)
		l.u[i] = l.f[i] / 26
		return nil
	}
	if l.gather != nil {
		return l.solveWhole()
	}
	for range sweeps {
		if err := l.smooth(); err != nil {
			return err
		}
	}
	if _, err := l.residual(); err != nil {
		return err
	}
	if err := l.restrict(); err != nil {
		return err
	}
	clear(l.next.u)
	if err := l.next.cycle(); err != nil {
		return err
	}
	if err := l.prolong(); err != nil {
		return err
	}
	for range sweeps {
		if err := l.smooth(); err != nil {
			return err
		}
	}
	return nil
}

// solveWhole makes the cycle for a grid that is too coarse to be divided. Every rank does it for
// itself.
func (l *level) solveWhole() error {
	all := l.next
	if err := l.gather.collect(l, all, l.f, all.f); err != nil {
		return err
	}
	if err := l.gather.collect(l, all, l.u, all.u); err != nil {
		return err
	}
	if err := all.cycle(); err != nil {
		return err
	}
	l.rows(func(x, y, index int) {
		at := all.index(l.first[0]+x, l.first[1]+y, l.first[2])
		copy(l.u[index:index+l.count[2]], all.u[at:at+l.count[2]])
	})
	return nil
}
