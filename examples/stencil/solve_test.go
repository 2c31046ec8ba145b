package main

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"banyan/mpi"
)

var errKilled = errors.New("killed")

// killed lets a rank end in the middle of its computation.
type killed struct{}

// solveWith solves on n ranks, of which some die at given steps.
func solveWith(t *testing.T, p problem, n, spares int, dieAt map[int]int) result {
	t.Helper()
	var of [16]result
	var lived [16]bool
	err := mpi.Local(n+spares, func(w *mpi.Comm) (err error) {
		if err := w.SetSpares(spares); err != nil {
			return err
		}
		defer func() {
			if x := recover(); x == (killed{}) {
				err = errKilled
			} else if x != nil {
				panic(x)
			}
		}()
		r, err := p.solve(w, func(step, rank int) {
			if at, dies := dieAt[rank]; dies && step == at {
				panic(killed{})
			}
		})
		of[w.Rank()], lived[w.Rank()] = r, err == nil && r.ranks > 0
		return err
	})
	if len(dieAt) == 0 && err != nil || len(dieAt) > 0 && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	first := slices.Index(lived[:], true)
	if first < 0 {
		t.Fatalf("nobody lives: %v", err)
	}
	left := min(n, n+spares-len(dieAt))
	for r := range n + spares {
		if lived[r] && (of[r].hash != of[first].hash || of[r].ranks != left) {
			t.Errorf("rank %d of %d comes to %x, rank %d to %x", r, of[r].ranks, of[r].hash, first, of[first].hash)
		}
	}
	return of[first]
}

// The result is the same to the bit, whichever rank dies at whatever step.
func TestDeathsDontShow(t *testing.T) {
	p := problem{cells: 97, steps: 300, every: 20}
	want := solveWith(t, p, 1, 0, nil)
	for n := 2; n <= 5; n++ {
		if got := solveWith(t, p, n, 0, nil); got.hash != want.hash {
			t.Fatalf("%d ranks come to %x, one to %x", n, got.hash, want.hash)
		}
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		// No rank dies within the same stretch as its buddy.
		first := rng.IntN(6)
		dieAt := map[int]int{first: rng.IntN(100), (first + 2) % 6: 130 + rng.IntN(50), (first + 4) % 6: 220 + rng.IntN(80)}
		if got := solveWith(t, p, 6, 0, dieAt); got.hash != want.hash {
			t.Errorf("seed %d: %v: it comes to %x, undisturbed to %x", seed, dieAt, got.hash, want.hash)
		}
	}
}

// With spares the job keeps its size, as long as there are any, and comes to the same result;
// also if spares die, and those that have taken a rank.
func TestSparesKeepTheSize(t *testing.T) {
	p := problem{cells: 97, steps: 300, every: 20}
	want := solveWith(t, p, 1, 0, nil)
	for _, x := range []struct {
		n, spares int
		dieAt     map[int]int
	}{
		{4, 1, nil},
		{1, 1, map[int]int{0: 0}},
		{4, 2, map[int]int{2: 150}},
		{4, 2, map[int]int{0: 50, 2: 170}},
		{4, 2, map[int]int{1: 90, 4: 210}}, // 4 has become rank 1
		{4, 1, map[int]int{3: 30, 1: 250}}, // one spare too few
		{3, 3, map[int]int{0: 299, 3: 299, 4: 299}},
	} {
		if got := solveWith(t, p, x.n, x.spares, x.dieAt); got.hash != want.hash {
			t.Errorf("%+v: it comes to %x, undisturbed to %x", x, got.hash, want.hash)
		}
	}
}

// A part of which no copy is left is an error that says so.
func TestRankAndBuddyDie(t *testing.T) {
	var both sync.WaitGroup // neither dies before both have come as far
	both.Add(2)
	err := mpi.Local(4, func(w *mpi.Comm) (err error) {
		defer func() {
			if recover() != nil {
				err = errKilled
			}
		}()
		_, err = problem{cells: 50, steps: 100, every: 50}.solve(w, func(step, rank int) {
			if step == 60 && (rank == 1 || rank == 2) {
				both.Done()
				both.Wait()
				panic(killed{})
			}
		})
		return err
	})
	if !errors.Is(err, errLost) {
		t.Error(err)
	}
}
