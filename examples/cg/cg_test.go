package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"banyan/examples/internal/jobtest"
	"banyan/mpi"
)

// output runs the program on n ranks and returns what each replica of rank 0 printed.
func output(t *testing.T, n, replicas int, o options) []string {
	t.Helper()
	return jobtest.Print(t, n, replicas, func(world *mpi.Comm, to io.Writer) error { return run(world, to, o) })
}

// TestProgram solves the demo's system on several numbers of ranks. Replicas print
// the same bytes, and the same as a job without them.
func TestProgram(t *testing.T) {
	o := options{matrix: "data/bcsstk16.mtx.gz", solves: 1, every: 50, tolerance: 1e-10, limit: 2000}
	for _, n := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
			o := o
			if n == 2 {
				o.solves = 2 // one after the other; a solution takes most of a second
			}
			plain := output(t, n, 1, o)
			for _, want := range []string{fmt.Sprintf("4884 rows, 290378 entries, on %d ranks", n), "converged in 23", "checksum "} {
				if !strings.Contains(plain[0], want) {
					t.Errorf("no %q in\n%s", want, plain[0])
				}
			}
			if n > 3 {
				return // the machine may have only two cores
			}
			byName := o
			byName.byName = true
			if out := output(t, n, 1, byName)[0]; out != plain[0] {
				t.Errorf("with sources by name it printed\n%s\nwith any\n%s", out, plain[0])
			}
			for replica, out := range output(t, n, 2, o) {
				if out != plain[0] {
					t.Errorf("replica %d of rank 0 printed\n%s\nwithout replicas\n%s", replica, out, plain[0])
				}
			}
		})
	}
}

// TestTinyMatrix solves a matrix with fewer rows than there are ranks.
func TestTinyMatrix(t *testing.T) {
	o := options{matrix: "testdata/two.mtx", solves: 3, every: 1, tolerance: 1e-10, limit: 10}
	for _, n := range []int{1, 2, 5} {
		if out := output(t, n, 1, o)[0]; !strings.Contains(out, "2 rows, 4 entries") {
			t.Errorf("on %d ranks:\n%s", n, out)
		}
	}
}

// TestBrokenMatrix checks that every rank gets an error, that none waits for ever, and that the
// error names the cause.
func TestBrokenMatrix(t *testing.T) {
	for _, n := range []int{1, 3} {
		o := options{matrix: "testdata/broken.mtx", solves: 1, every: 1, tolerance: 1e-10, limit: 10}
		failed := make(chan error, n)
		err := mpi.Local(n, func(world *mpi.Comm) error {
			err := run(world, io.Discard, o)
			failed <- err
			return err
		})
		if err == nil || !strings.Contains(err.Error(), `broken.mtx: line 4: value "four" is not a finite number`) {
			t.Errorf("on %d ranks: error %v", n, err)
		}
		for range n {
			if <-failed == nil {
				t.Errorf("a rank of %d saw no error", n)
			}
		}
	}
}
