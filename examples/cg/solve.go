package main

import (
	"errors"
	"fmt"
	"math"
)

// others are the operations of the solver that involve the other ranks.
type others interface {
	// exchange fills the halo of a local vector with its owners' values.
	exchange(vector []float64) error
	// sum replaces each value by its sum over all ranks.
	sum(values []float64) error
}

var errIndefinite = errors.New("the matrix isn't positive definite")

// solve finds x with A·x = b by conjugate gradients, preconditioned with the
// diagonal of A. It calls progress with the residual ‖b-A·x‖/‖b‖ before each
// iteration. Every rank takes the same decisions, because they depend only on sums
// over all ranks.
func solve(a *block, b []float64, team others, tolerance float64, limit int, progress func(iteration int, residual float64)) (x []float64, iterations int, err error) {
	x = make([]float64, a.count)
	r := append([]float64(nil), b...) // residual
	z := make([]float64, a.count)     // residual, preconditioned
	p := a.vector()                   // direction of search
	q := make([]float64, a.count)     // A·p

	precondition(z, r, a.diagonal)
	copy(p, z)
	products := []float64{dot(r, z), dot(r, r)}
	if err := team.sum(products); err != nil {
		return nil, 0, err
	}
	rz, bb := products[0], products[1]
	if bb == 0 {
		return x, 0, nil
	}
	for k := 0; ; k++ {
		residual := math.Sqrt(products[1] / bb)
		progress(k, residual)
		switch {
		case residual <= tolerance:
			return x, k, nil
		case k == limit:
			return nil, k, fmt.Errorf("not converged after %d iterations: residual %.1e", k, residual)
		}
		if err := team.exchange(p); err != nil {
			return nil, k, err
		}
		a.multiply(q, p)
		pq := []float64{dot(p[:a.count], q)}
		if err := team.sum(pq); err != nil {
			return nil, k, err
		}
		if !(pq[0] > 0) {
			return nil, k, errIndefinite
		}
		alpha := rz / pq[0]
		for i := range x {
			x[i] += alpha * p[i]
			r[i] -= alpha * q[i]
		}
		precondition(z, r, a.diagonal)
		products[0], products[1] = dot(r, z), dot(r, r)
		if err := team.sum(products); err != nil {
			return nil, k, err
		}
		beta := products[0] / rz
		rz = products[0]
		for i := range z {
			p[i] = z[i] + beta*p[i]
		}
	}
}

// precondition solves D·z = r for a diagonal D.
func precondition(z, r, diagonal []float64) {
	for i := range z {
		z[i] = r[i] / diagonal[i]
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
