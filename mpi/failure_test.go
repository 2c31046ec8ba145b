package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"banyan/mpi"
)

var errCrash = errors.New("crashed on purpose")

// localWithCrashes runs a job in which ranks crash on purpose. Any other error fails the test.
func localWithCrashes(t *testing.T, n int, run func(world *mpi.Comm) error, options ...mpi.LocalOption) {
	t.Helper()
	end := make(chan error, 1)
	go func() { end <- mpi.Local(n, run, options...) }()
	select {
	case err := <-end:
		for _, e := range unjoin(err) {
			if !errors.Is(e, errCrash) {
				t.Fatal(e)
			}
		}
	case <-time.After(time.Minute):
		panic("the job hangs")
	}
}

func unjoin(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// A rank that isn't the root is dead when the broadcast starts. Every live rank gets the broadcast,
// whatever its size, and no other call that needs the rank hangs.
func TestBcastReachesTheLiving(t *testing.T) {
	for _, n := range []int{3, 4, 7, 8} {
		for dead := 1; dead < n; dead++ {
			localWithCrashes(t, n, func(w *mpi.Comm) error {
				if w.Rank() == dead {
					return errCrash
				}
				for round, length := range []int{1, 4096, 100_000, 0, 17} {
					b := make([]byte, length)
					if w.Rank() == 0 {
						for i := range b {
							b[i] = byte(i + round)
						}
					}
					if err := mpi.Bcast(w, b, 0); err != nil {
						return err
					}
					for i := range b {
						if b[i] != byte(i+round) {
							return fmt.Errorf("rank %d: byte %d of %d is %d", w.Rank(), i, length, b[i])
						}
					}
				}
				return nil
			})
		}
	}
}

// Ranks die in the middle of a long run of broadcasts.
func TestBcastSurvivesDeathsInTheMiddle(t *testing.T) {
	for seed := range uint64(10) {
		const n, rounds = 6, 300
		rng := rand.New(rand.NewPCG(seed, 0))
		dieAt := map[int]int{1 + rng.IntN(n-1): rng.IntN(rounds), 1 + rng.IntN(n-1): rng.IntN(rounds)}
		localWithCrashes(t, n, func(w *mpi.Comm) error {
			for i := range rounds {
				if at, ok := dieAt[w.Rank()]; ok && at == i {
					return errCrash
				}
				b := []int{0}
				if w.Rank() == 0 {
					b[0] = i
				}
				if err := mpi.Bcast(w, b, 0); err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				if b[0] != i {
					return fmt.Errorf("seed %d: rank %d got %d in round %d", seed, w.Rank(), b[0], i)
				}
			}
			return nil
		})
	}
}

func TestNothingHangsOnALostRank(t *testing.T) {
	const n, dead = 4, 2
	operations := map[string]func(w *mpi.Comm) error{
		"Recv":         func(w *mpi.Comm) error { _, err := mpi.Recv(w, []int{0}, dead, 0); return err },
		"Recv any":     func(w *mpi.Comm) error { _, err := mpi.Recv(w, []int{0}, mpi.AnySource, 0); return err },
		"Probe":        func(w *mpi.Comm) error { _, err := w.Probe(dead, 0); return err },
		"large Send":   func(w *mpi.Comm) error { return mpi.Send(w, make([]byte, 1<<20), dead, 0) },
		"Barrier":      func(w *mpi.Comm) error { return w.Barrier() },
		"Allreduce":    func(w *mpi.Comm) error { return mpi.Allreduce(w, []int{1}, []int{0}, mpi.Sum) },
		"large Reduce": func(w *mpi.Comm) error { return mpi.Reduce(w, make([]int, 1<<17), make([]int, 1<<17), mpi.Sum, 0) },
		"Gather":       func(w *mpi.Comm) error { return mpi.Gather(w, []int{1}, make([]int, n), 0) },
		"Scatter":      func(w *mpi.Comm) error { return mpi.Scatter(w, make([]int, n), []int{1}, 0) },
		"Alltoall":     func(w *mpi.Comm) error { return mpi.Alltoall(w, make([]int, n<<16), make([]int, n<<16)) },
		"Split":        func(w *mpi.Comm) error { _, err := w.Split(0, 0); return err },
	}
	// With a lost rank these may still succeed at ranks that need nothing from it.
	mayPass := map[string]bool{"Gather": true, "Scatter": true, "large Reduce": true}
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			for _, late := range []bool{false, true} { // dead before, or in the middle of the wait
				var waiting atomic.Int32
				localWithCrashes(t, n, func(w *mpi.Comm) error {
					if w.Rank() == dead {
						for late && waiting.Load() < n-1 {
							time.Sleep(time.Millisecond)
						}
						time.Sleep(2 * time.Millisecond)
						return errCrash
					}
					waiting.Add(1)
					if !late {
						time.Sleep(20 * time.Millisecond)
					}
					err := op(w)
					if err == nil && mayPass[name] {
						return nil
					}
					if !errors.Is(err, mpi.ErrProcFailed) || !strings.Contains(err.Error(), fmt.Sprintf("rank %d died", dead)) {
						return fmt.Errorf("%s: got %v", name, err)
					}
					return nil
				})
			}
		})
	}
}

// The dead rank's last messages are not lost.
func TestMessagesOfTheDeadArrive(t *testing.T) {
	localWithCrashes(t, 2, func(w *mpi.Comm) error {
		if w.Rank() == 1 {
			for i := range 100 {
				if err := mpi.Send(w, []int{i}, 0, 0); err != nil {
					return err
				}
			}
			return errCrash
		}
		time.Sleep(20 * time.Millisecond)
		for i := range 100 {
			b := []int{0}
			if _, err := mpi.Recv(w, b, 1, 0); err != nil {
				return err
			}
			if b[0] != i {
				return fmt.Errorf("message %d is %d", i, b[0])
			}
		}
		if _, err := mpi.Recv(w, []int{0}, 1, 0); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("one more: %v", err)
		}
		return nil
	})
}

// iterate is what TestReplicasMaskDeaths computes, by one process.
func iterate(n, rounds int) []int {
	x := make([]int, n)
	for r := range x {
		x[r] = r + 1
	}
	for range rounds {
		y := 0
		for _, v := range x {
			y += v
		}
		for r := range x {
			x[r] = (y + r) % 1_000_003
		}
	}
	return x
}

// A replica may die anywhere: the rank goes on.
func TestReplicasMaskDeaths(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		const n, replicas, rounds = 3, 2, 200
		expect := iterate(n, rounds)
		rng := rand.New(rand.NewPCG(seed, 1))
		victimRank, when := rng.IntN(n), rng.IntN(rounds)
		var first atomic.Bool // the first replica of the rank to come there dies
		localWithCrashes(t, n, func(w *mpi.Comm) error {
			x := []int{w.Rank() + 1}
			large := make([]byte, 100_000)
			for i := range rounds {
				if w.Rank() == victimRank && i == when && first.CompareAndSwap(false, true) {
					return errCrash
				}
				right, left := (w.Rank()+1)%n, (w.Rank()+n-1)%n
				if _, err := mpi.Sendrecv(w, large, right, i, large, left, i); err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				y := []int{0}
				if err := mpi.Allreduce(w, x, y, mpi.Sum); err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				x[0] = (y[0] + w.Rank()) % 1_000_003
			}
			if want := expect[w.Rank()]; x[0] != want {
				return fmt.Errorf("seed %d: rank %d has %d, want %d", seed, w.Rank(), x[0], want)
			}
			return nil
		}, mpi.WithReplicas(replicas))
	}
}

// A program whose replicas send different numbers of messages ends with an error instead of waiting
// for ever. A master that gives work to the first worker that asks is one.
func TestReplicasThatDiffer(t *testing.T) {
	for _, size := range []int{1, 100_000} {
		var incarnations atomic.Int32
		done := make(chan error, 1)
		go func() {
			done <- mpi.Local(2, func(world *mpi.Comm) error {
				count, err := make([]int, size), error(nil)
				if world.Rank() == 0 {
					count[0] = int(incarnations.Add(1))
					for range count[0] {
						err = errors.Join(err, mpi.Send(world, count, 1, 0))
					}
					return err
				}
				for received := 0; received < max(count[0], 1); received++ {
					if _, err := mpi.Recv(world, count, 0, 0); err != nil {
						return err
					}
				}
				return nil
			}, mpi.WithReplicas(2))
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "rank 0 have sent different numbers of messages to rank 1") {
				t.Errorf("messages of %d: %v", size, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("messages of %d: it hangs", size)
		}
	}
}
