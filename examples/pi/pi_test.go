package main

import (
	"errors"
	"math/rand/v2"
	"testing"

	"banyan/mpi"
)

var errKilled = errors.New("killed")

// killed lets a rank end in the middle of its computation.
type killed struct{}

// solveWith solves on n ranks, of which some die in given rounds, and returns what each comes to;
// -1 if it died.
func solveWith(t *testing.T, p problem, n int, dieAt map[int]int) []int {
	t.Helper()
	of := make([]int, n)
	err := mpi.Local(n, func(w *mpi.Comm) (err error) {
		defer func() {
			if x := recover(); x == (killed{}) {
				of[w.Rank()], err = -1, errKilled
			} else if x != nil {
				panic(x)
			}
		}()
		hits, live, err := p.solve(w, func(round int) {
			if at, dies := dieAt[w.Rank()]; dies && round == at {
				panic(killed{})
			}
		})
		of[w.Rank()] = hits
		if err == nil && len(live) < n-len(dieAt) {
			t.Errorf("%d of %d ranks live, for all that rank %d knows, and %d have died", len(live), n, w.Rank(), len(dieAt))
		}
		return err
	})
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	return of
}

// All that live come to the same number of hits, whichever die in whatever round.
func TestDeathsDontShow(t *testing.T) {
	p := problem{batches: 60, darts: 100}
	want := solveWith(t, p, 1, nil)[0]
	if want < 60*100*7/10 || want > 60*100*9/10 {
		t.Fatalf("%d of %d darts hit", want, 60*100)
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := 2 + rng.IntN(5)
		dieAt := map[int]int{}
		for range rng.IntN(n) {
			dieAt[rng.IntN(n)] = rng.IntN(60 / n)
		}
		for r, got := range solveWith(t, p, n, dieAt) {
			if _, dies := dieAt[r]; dies != (got < 0) || !dies && got != want {
				t.Errorf("seed %d: rank %d of %d comes to %d, undisturbed to %d; they die so: %v", seed, r, n, got, want, dieAt)
			}
		}
	}
}
