package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"banyan/examples/internal/jobtest"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

func TestMain(m *testing.M) { jobtest.Main(m, main) }

// output runs the program on n ranks and returns what each replica of rank 0 printed.
func output(t *testing.T, n, replicas int, o options) []string {
	t.Helper()
	return jobtest.Print(t, n, replicas, func(world *mpi.Comm, to io.Writer) error { return run(world, to, o) })
}

// TestProgram checks that the output is the same, to the byte, on any number of ranks, with
// replicas and without, and in any order of arrival.
func TestProgram(t *testing.T) {
	o := options{points: 31, solves: 2, tolerance: 1e-10, limit: 20}
	want := output(t, 1, 1, o)[0]
	for _, part := range []string{"29791 points\n", "solve 2\n", "converged in 8 cycles, largest error ", "\nchecksum "} {
		if !strings.Contains(want, part) {
			t.Errorf("no %q in\n%s", part, want)
		}
	}
	for _, x := range []struct{ n, replicas int }{{2, 1}, {3, 1}, {5, 1}, {8, 1}, {12, 1}, {1, 2}, {2, 2}, {4, 2}, {2, 3}} {
		for _, o.anySource = range []bool{false, true} {
			for replica, out := range output(t, x.n, x.replicas, o) {
				if out != want {
					t.Errorf("%d ranks of %d, any source %v: replica %d of rank 0 printed\n%s\none rank\n%s", x.n, x.replicas, o.anySource, replica, out, want)
				}
			}
		}
	}
}

// TestRefused checks that all ranks of impossible jobs end with the cause.
func TestRefused(t *testing.T) {
	good := options{points: 15, solves: 1, tolerance: 1e-10, limit: 20}
	for want, spoil := range map[string]func(*options){
		"30 points a side: want 1 less than a power of two": func(o *options) { o.points = 30 },
		"3 points a side are too few for 8 ranks":           func(o *options) { o.points = 3 },
		"not converged after 2 cycles":                      func(o *options) { o.limit = 2 },
	} {
		o := good
		spoil(&o)
		failed := make(chan error, 8)
		if err := mpi.Local(8, func(world *mpi.Comm) error {
			err := run(world, io.Discard, o)
			failed <- err
			return err
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		for range 8 {
			if err := <-failed; err == nil {
				t.Errorf("%s: a rank saw no error", want)
			}
		}
	}
}

// TestSurvive kills processes at random, in every phase. The output is that of one rank.
func TestSurvive(t *testing.T) {
	args := []string{"-points", "31", "-solves", "2"}
	want := jobtest.Run(t, "", launcher.Config{Ranks: 1, Replicas: 1, Args: args})
	if want.ExitCode != 0 {
		t.Fatalf("undisturbed: exit code %d\n%s", want.ExitCode, want.Stderr)
	}
	plans := 8
	if testing.Short() {
		plans = 3
	}
	for seed := 1; seed <= plans; seed++ {
		n := []int{4, 1, 2, 3}[seed%4]
		replicas := 2 + seed/4%2
		args := args
		if seed%2 == 0 {
			args = append(args[:len(args):len(args)], "-any-source")
		}
		faults := fmt.Sprintf("random count=%d within=%s seed=%d", 1+seed%(n*(replicas-1)), []string{"300ms", "send:1500", "100ms"}[seed%3], seed)
		config := launcher.Config{Ranks: n, Replicas: replicas, Args: args}
		if got := jobtest.Run(t, faults, config); got.ExitCode != 0 || got.Stdout != want.Stdout {
			t.Errorf("%s\nexit code %d\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				jobtest.Command(faults, config), got.ExitCode, got.Stderr, got.Stdout, want.Stdout)
		}
	}
}
