// Cg solves a sparse, symmetric, positive definite system of equations with the
// method of conjugate gradients and a Jacobi preconditioner, on any number of
// ranks:
//
//	banyan run -n 4 cg [flags] matrix.mtx[.gz]
//
// It shows a real program's traffic. Rank 0 reads the matrix and scatters blocks of rows
// (distribute.go). In each iteration neighbours exchange the parts of a vector that they need. They
// receive them in any order (halo.go) or, with -any-source=false, from each neighbour in turn.
// Scalar products are all-reduced. Sends don't depend on the order in which messages arrive. So the
// replicas of a rank stay equal, and the output is the same to the byte, whether processes die or
// not.
//
// Between two solutions the program is at a safe point. There its whole state is the number of the
// next solution and the checksum so far. With --heal dead replicas are replaced there.
//
// To check solutions, the program makes right-hand sides from known solutions: number s is A·x with
// x[i] = 1 + i mod s. It prints no times.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"banyan/mpi"
)

type options struct {
	matrix    string
	solves    int
	every     int
	tolerance float64
	limit     int
	// byName receives from each neighbour in turn, not from the one whose message comes first.
	byName bool
	slow   string
}

func main() {
	var o options
	flag.IntVar(&o.solves, "solves", 1, "number of right-hand sides, solved one after the other")
	flag.Float64Var(&o.tolerance, "tolerance", 1e-10, "solved when the residual is so small, relative to the right-hand side")
	flag.IntVar(&o.limit, "max-iterations", 2000, "give up after so many iterations")
	flag.IntVar(&o.every, "every", 25, "print the residual each so many iterations")
	anySource := flag.Bool("any-source", true, "receive from the neighbour whose message comes first")
	flag.StringVar(&o.slow, "slow-until", "", "rest 80 ms before each iteration until there is this `file`: time to see what faults do")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: cg [flags] MATRIX   (Matrix Market file, plain or gzip)")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || o.solves < 1 || o.every < 1 || o.limit < 1 || !(o.tolerance > 0) {
		flag.Usage()
		os.Exit(2)
	}
	o.matrix, o.byName = flag.Arg(0), !*anySource
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Stdout, o) })
}

func run(world *mpi.Comm, out io.Writer, o options) error {
	a, entries, err := distribute(world, o.matrix)
	if err != nil {
		return err
	}
	halo, err := newHalo(world, a, o.byName)
	if err != nil {
		return err
	}
	print := printer(world, out)
	print("%s: %d rows, %d entries, on %d ranks\n", filepath.Base(o.matrix), a.total, entries, world.Size())

	checksum := sha256.New() // of all solutions
	solution := make([]float64, a.total)
	_, counts := blocks(a.total, world.Size())
	s := 1
	if err := errors.Join(mpi.Register(world, "solve", &s), mpi.Register(world, "checksum", checksum)); err != nil {
		return err
	}
	world.ExpectSafepoints(o.solves) // people who watch are shown how much is left
	for ; s <= o.solves; s++ {
		if _, err := world.Safepoint(); err != nil { // here a replacement takes over the state of a live replica
			return err
		}
		known, b := a.vector(), make([]float64, a.count)
		for i := range a.count {
			known[i] = float64(1 + (a.first+i)%s)
		}
		if err := halo.exchange(known); err != nil {
			return err
		}
		a.multiply(b, known)

		print("solve %d\n", s)
		x, iterations, err := solve(a, b, halo, o.tolerance, o.limit, func(iteration int, residual float64) {
			if iteration%o.every == 0 {
				print("  iteration %4d  residual %.6e\n", iteration, residual)
			}
			o.rest()
		})
		if err != nil {
			return err
		}
		if err := mpi.Gatherv(world, x, solution, counts, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			if err := binary.Write(checksum, binary.LittleEndian, solution); err != nil {
				return err
			}
		}
		print("  converged in %d iterations, largest error %.1e, norm %.12e\n", iterations, worst(solution, s), norm(solution))
	}
	print("checksum %x\n", checksum.Sum(nil)[:8])
	return nil
}

// rest takes time until there is the file of -slow-until. Only time depends on it: replicas that
// see the file at different moments send the same.
func (o *options) rest() {
	if o.slow == "" {
		return
	}
	if _, err := os.Stat(o.slow); err == nil {
		o.slow = ""
		return
	}
	time.Sleep(80 * time.Millisecond)
}

// printer returns a function that prints at rank 0 and does nothing at the others.
func printer(world *mpi.Comm, out io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		if world.Rank() == 0 {
			fmt.Fprintf(out, format, args...)
		}
	}
}

// worst returns the largest error of an element of solution number s.
func worst(solution []float64, s int) float64 {
	largest := 0.0
	for i, v := range solution {
		largest = max(largest, math.Abs(v-float64(1+i%s)))
	}
	return largest
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
