// Multigrid solves Poisson's equation on a cube by multigrid V-cycles, on any number of ranks:
//
//	banyan run -n 8 multigrid [flags]
//
// Its traffic differs from that of examples/cg. On each grid of the hierarchy neighbours exchange
// the faces, edges and corners of their blocks some seven times a cycle. These have many kilobytes
// on the finest grid and single numbers on the coarse ones (halo.go). Grids that are too coarse to
// be divided are gathered at all ranks and solved there. There is one reduction a cycle. So most
// messages are small, and their latency counts.
//
// With -any-source halos are received in any order, as some codes do (HPCCG, in the paper on
// replication). Without it they are received from each neighbour in turn. Sends don't depend on it.
//
// The program makes right-hand sides from known solutions: sums of eigenvectors of the matrix,
// whose eigenvalues are known as well. A solution whose error is larger than its residual allows
// ends the job with an error. The output has no times, and is the same to the byte for any number
// of ranks, with and without -any-source, replicas or deaths.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"banyan/mpi"
)

type options struct {
	points    int
	solves    int
	tolerance float64
	limit     int
	anySource bool
}

func main() {
	var o options
	flag.IntVar(&o.points, "points", 63, "points of the grid a side, 1 less than a power of two")
	flag.IntVar(&o.solves, "solves", 1, "number of right-hand sides, solved one after the other")
	flag.Float64Var(&o.tolerance, "tolerance", 1e-10, "solved when the residual is so small, relative to the right-hand side")
	flag.IntVar(&o.limit, "max-cycles", 50, "give up after so many cycles")
	flag.BoolVar(&o.anySource, "any-source", false, "receive from the neighbour whose message comes first")
	flag.Parse()
	if flag.NArg() != 0 || o.points < 1 || o.solves < 1 || o.limit < 1 || !(o.tolerance > 0) {
		flag.Usage()
		os.Exit(2)
	}
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Stdout, o) })
}

func run(world *mpi.Comm, out io.Writer, o options) error {
	t := newTeam(world, o.anySource)
	top, err := newHierarchy(t, o.points)
	if err != nil {
		return err
	}
	print := func(format string, args ...any) {
		if t.rank == 0 {
			fmt.Fprintf(out, format, args...)
		}
	}
	print("%d points\n", o.points*o.points*o.points)
	checksum := sha256.New() // of all solutions
	solution := make([]float64, 0)
	if t.rank == 0 {
		solution = make([]float64, o.points*o.points*o.points)
	}
	for s := 1; s <= o.solves; s++ {
		known := top.problem(s)
		print("solve %d\n", s)
		residual, cycles, err := solve(t, top, o.tolerance, o.limit, func(cycle int, residual float64) {
			print("  cycle %2d  residual %.6e\n", cycle, residual)
		})
		if err != nil {
			return err
		}
		wrong, err := t.largest(top.difference(top.u, known))
		if err != nil {
			return err
		}
		if bound := errorBound(o.points, residual); !(wrong <= bound) {
			return fmt.Errorf("solve %d: the error is %.3e, its bound %.3e", s, wrong, bound)
		}
		if err := top.collect(t, o.points, solution); err != nil {
			return err
		}
		if t.rank == 0 {
			if err := binary.Write(checksum, binary.LittleEndian, solution); err != nil {
				return err
			}
		}
		print("  converged in %d cycles, largest error %.1e\n", cycles, wrong)
	}
	print("checksum %x\n", checksum.Sum(nil)[:8])
	return nil
}

// solve makes cycles until the residual is small against the right-hand side. It uses the maximum
// norm, which doesn't depend on an order of summation. It returns the residual and the number of
// cycles.
func solve(t *team, top *level, tolerance float64, limit int, progress func(cycle int, residual float64)) (float64, int, error) {
	clear(top.u)
	var first float64
	for k := 0; ; k++ {
		own, err := top.residual()
		if err != nil {
			return 0, k, err
		}
		residual, err := t.largest(own)
		if err != nil {
			return 0, k, err
		}
		if k == 0 {
			first = residual
		}
		progress(k, residual/first)
		switch {
		case residual <= tolerance*first:
			return residual, k, nil
		case k == limit:
			return 0, k, fmt.Errorf("not converged after %d cycles: residual %.1e", k, residual/first)
		}
		if err := top.cycle(); err != nil {
			return 0, k, err
		}
	}
}

// problem makes right-hand side number s, and returns the solution: the sum over m of
// sin(πmx)·sin(π(m+s)y)·sin(π(2m+1)z)/m for m = 1, 2, 3. Each term is an eigenvector of the matrix,
// with the eigenvalue 27 − Π(1 + 2·cos(πk/(n+1))) over its three frequencies k.
func (l *level) problem(s int) []float64 {
	known := make([]float64, len(l.u))
	h := math.Pi / float64(l.n+1)
	for i := range l.f {
		l.f[i] = 0
	}
	for m := 1; m <= 3; m++ {
		frequencies := point{m, m + s, 2*m + 1}
		value := 27.0
		product := 1.0
		for _, k := range frequencies {
			product *= 1 + 2*math.Cos(h*float64(k))
		}
		value -= product
		wave := func(direction, at int) float64 {
			return math.Sin(h * float64(frequencies[direction]*(l.first[direction]+at+1)))
		}
		l.rows(func(x, y, index int) {
			scale := wave(0, x) * wave(1, y) / float64(m)
			for z := range l.count[2] {
				term := scale * wave(2, z)
				known[index+z] += term
				l.f[index+z] += value * term
			}
		})
	}
	return known
}

// errorBound is the largest error for a residual. The inverse of the matrix isn't larger than
// (n+1)²/72 in the maximum norm, because v = x(1−x)/2, a solution across the cube, has A·v ≥ 9h².
// Rounding in the known solution and its right-hand side adds to that.
func errorBound(n int, residual float64) float64 {
	const rounding = 1e-14
	return (residual + 27*rounding) * float64((n+1)*(n+1)) / 72
}

// difference is the largest difference between two arrays in the block.
func (l *level) difference(a, b []float64) float64 {
	largest := 0.0
	l.rows(func(_, _, index int) {
		for i := index; i < index+l.count[2]; i++ {
			if d := math.Abs(a[i] - b[i]); !(d <= largest) { // NaN too
				largest = d
			}
		}
	})
	return largest
}

// collect gathers the solution at rank 0, in the order of the points.
func (l *level) collect(t *team, n int, solution []float64) error {
	own := make([]float64, l.points())
	l.copy(region{count: l.count}, l.u, own, false)
	d := decompose(t.size)
	counts := make([]int, t.size)
	for rank := range counts {
		counts[rank] = d.block(rank, n, 0).points()
	}
	parts := make([]float64, len(solution))
	if err := mpi.Gatherv(t.world, own, parts, counts, 0); err != nil || t.rank != 0 {
		return err
	}
	for rank, count := range counts {
		b := d.block(rank, n, 0)
		for x := range b.count[0] {
			for y := range b.count[1] {
				at := ((b.first[0]+x)*n+b.first[1]+y)*n + b.first[2]
				copy(solution[at:at+b.count[2]], parts[(x*b.count[1]+y)*b.count[2]:])
			}
		}
		parts = parts[count:]
	}
	return nil
}
