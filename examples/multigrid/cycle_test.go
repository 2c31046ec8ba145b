package main

import (
	"math"
	"testing"
)

// TestProblem checks that known solutions solve their systems, up to rounding.
func TestProblem(t *testing.T) {
	for _, n := range []int{7, 31} {
		for s := 1; s <= 3; s++ {
			l := whole(n)
			l.u = l.problem(s)
			right := l.difference(l.f, make([]float64, len(l.f)))
			residual, err := l.residual()
			if err != nil || right < 0.1 || residual > 1e-13 {
				t.Errorf("%d points a side, problem %d: residual %g of %g, %v", n, s, residual, right, err)
			}
		}
	}
}

// TestTwoGrids checks that interpolation is exact for functions that are linear between coarse
// points, and that weighting keeps the sum of values far from the boundary.
func TestTwoGrids(t *testing.T) {
	l := whole(15)
	c := l.next
	c.rows(func(x, y, index int) {
		for z := range c.count[2] {
			c.u[index+z] = float64(x + 10*y + 100*z)
		}
	})
	if err := l.prolong(); err != nil {
		t.Fatal(err)
	}
	for x := 1; x < 14; x++ {
		for y := 1; y < 14; y++ {
			for z := 1; z < 14; z++ {
				// Coarse point i is fine point 2i+1.
				want := (float64(x-1) + 10*float64(y-1) + 100*float64(z-1)) / 2
				if got := l.u[l.index(x, y, z)]; got != want {
					t.Fatalf("(%d, %d, %d): %v, want %v", x, y, z, got, want)
				}
			}
		}
	}
	clear(l.r)
	for _, p := range []point{{6, 7, 8}, {7, 7, 7}, {8, 8, 8}, {5, 6, 7}} {
		clear(l.r)
		l.r[l.index(p[0], p[1], p[2])] = 1
		if err := l.restrict(); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range c.f {
			sum += v
		}
		if sum != 0.5 { // 4/8
			t.Errorf("%v: %v", p, sum)
		}
	}
}

// TestConvergence checks that a cycle leaves less than a twelfth of the residual, however fine the
// grid is. This is the defining property of multigrid.
func TestConvergence(t *testing.T) {
	for _, n := range []int{7, 15, 31, 63} {
		l := whole(n)
		l.problem(1)
		last := math.Inf(1)
		for cycle := range 8 {
			residual, err := l.residual()
			if err != nil {
				t.Fatal(err)
			}
			if cycle > 1 && residual > last/12 {
				t.Errorf("%d points a side, cycle %d: %g after %g", n, cycle, residual, last)
			}
			last = residual
			if err := l.cycle(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestErrorBound checks the inequality on which the error bound rests, and the bound itself.
func TestErrorBound(t *testing.T) {
	for _, n := range []int{1, 3, 15} {
		l := whole(n)
		h := 1 / float64(n+1)
		l.rows(func(x, _, index int) {
			at := float64(x+1) * h
			for z := range l.count[2] {
				l.u[index+z] = at * (1 - at) / 2
			}
		})
		if _, err := l.residual(); err != nil {
			t.Fatal(err)
		}
		l.rows(func(x, y, index int) {
			for z := range l.count[2] {
				if product := -l.r[index+z]; product < 9*h*h*(1-1e-12) {
					t.Fatalf("%d points a side, (%d, %d, %d): A·v is %g, want %g or more", n, x, y, z, product, 9*h*h)
				}
			}
		})
	}
	l := whole(15)
	known := l.problem(2)
	for cycle := range 6 {
		residual, err := l.residual()
		if err != nil {
			t.Fatal(err)
		}
		if wrong := l.difference(l.u, known); wrong > errorBound(15, residual) {
			t.Errorf("cycle %d: the error is %g, its bound %g", cycle, wrong, errorBound(15, residual))
		}
		if err := l.cycle(); err != nil {
			t.Fatal(err)
		}
	}
	// The bound notices a wrong point.
	l.u[l.index(3, 3, 3)] += 1e-3
	if wrong := l.difference(l.u, known); wrong <= errorBound(15, 1e-10) {
		t.Errorf("an error of %g isn't noticed", wrong)
	}
}
