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
func solveWith(t *testing.T, p problem, n int, dieAt map[int]int) result {
	t.Helper()
	var of [16]result
	var lived [16]bool
	err := mpi.Local(n, func(w *mpi.Comm) (err error) {
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
		of[w.Rank()], lived[w.Rank()] = r, err == nil
		return err
	})
	if len(dieAt) == 0 && err != nil || len(dieAt) > 0 && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	first := slices.Index(lived[:], true)
	if first < 0 {
		t.Fatalf("nobody lives: %v", err)
	}
	for r := range n {
		if lived[r] && (of[r].hash != of[first].hash || of[r].ranks != n-len(dieAt)) {
			t.Errorf("rank %d of %d comes to %x, rank %d to %x", r, of[r].ranks, of[r].hash, first, of[first].hash)
		}
	}
	return of[first]
}

// The result is the same to the bit, whichever rank dies at whatever step.
func TestDeathsDontShow(t *testing.T) {
	p := problem{cells: 97, steps: 300, every: 20}
	want := solveWith(t, p, 1, nil)
	for n := 2; n <= 5; n++ {
		if got := solveWith(t, p, n, nil); got.hash != want.hash {
			t.Fatalf("%d ranks come to %x, one to %x", n, got.hash, want.hash)
		}
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		// No rank dies within the same stretch as its buddy.
		first := rng.IntN(6)
		dieAt := map[int]int{first: rng.IntN(100), (first + 2) % 6: 130 + rng.IntN(50), (first + 4) % 6: 220 + rng.IntN(80)}
		if got := solveWith(t, p, 6, dieAt); got.hash != want.hash {
			t.Errorf("seed %d: %v: it comes to %x, undisturbed to %x", seed, dieAt, got.hash, want.hash)
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
