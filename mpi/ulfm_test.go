package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/mpi"
)

// Ranks die at random moments of a loop of collectives. Those that live revoke, shrink and go on,
// each time with all that live, and come to the same number of rounds.
func TestShrinkAndGoOn(t *testing.T) {
	for seed := range uint64(6) {
		const n, rounds = 6, 60
		rng := rand.New(rand.NewPCG(seed, 7))
		dieAt := map[int]int{rng.IntN(n): rng.IntN(rounds), rng.IntN(n): rng.IntN(rounds), rng.IntN(n): rng.IntN(rounds)}
		localWithCrashes(t, n, func(w *mpi.Comm) error {
			c, me := w, w.Rank()
			for round := 0; round < rounds; {
				if at, dies := dieAt[me]; dies && at == round {
					return errCrash
				}
				next := []int{round + 1}
				err := mpi.Allreduce(c, next, next, mpi.Min)
				if err != nil && !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrRevoked) {
					return err
				}
				// All decide alike whether the round counts.
				flag := uint32(1)
				if err != nil {
					flag = 0
				}
				flag, err = c.Agree(flag)
				if err == nil && flag == 1 {
					round = next[0]
					continue
				}
				if err := c.Revoke(); err != nil {
					return err
				}
				d, err := c.Shrink()
				if err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				if c != w {
					if err := c.Free(); err != nil {
						return err
					}
				}
				c = d
			}
			live := []int{1}
			if err := mpi.Allreduce(c, live, live, mpi.Sum); err != nil {
				return err
			}
			if want := n - len(dieAt); live[0] != want || c.Size() != want {
				return fmt.Errorf("seed %d: %d of %d ranks are left, want %d", seed, live[0], c.Size(), want)
			}
			return nil
		})
	}
}

// A revocation ends what waits at ranks that don't know of any failure.
func TestRevoke(t *testing.T) {
	localWithCrashes(t, 4, func(w *mpi.Comm) error {
		c, err := w.Dup()
		if err != nil {
			return err
		}
		waits, err := mpi.Irecv(c, []int{0}, (w.Rank()+1)%4, 3)
		if err != nil {
			return err
		}
		large := make([]int, 1<<17)
		offered, err := mpi.Isend(c, large, (w.Rank()+1)%4, 4)
		if err != nil {
			return err
		}
		if w.Rank() == 2 {
			if err := c.Revoke(); err != nil {
				return err
			}
			if !c.Revoked() {
				return errors.New("the communicator isn't revoked")
			}
		}
		if _, err := c.Probe(mpi.AnySource, 99); !errors.Is(err, mpi.ErrRevoked) {
			return fmt.Errorf("Probe: %v", err)
		}
		if err := mpi.WaitAll(&waits, &offered); !errors.Is(err, mpi.ErrRevoked) {
			return fmt.Errorf("WaitAll: %v", err)
		}
		if _, err := offered.Wait(); err != nil && !errors.Is(err, mpi.ErrRevoked) {
			return fmt.Errorf("Wait for a send: %v", err)
		}
		if err := c.Barrier(); !errors.Is(err, mpi.ErrRevoked) {
			return fmt.Errorf("Barrier: %v", err)
		}
		if f, err := c.Agree(uint32(8 | w.Rank())); err != nil || f != 8 {
			return fmt.Errorf("Agree: %x, %v", f, err)
		}
		d, err := c.Shrink()
		if err != nil {
			return err
		}
		if d.Size() != 4 || d.Rank() != w.Rank() {
			return fmt.Errorf("rank %d of %d after a shrink without failures", d.Rank(), d.Size())
		}
		if err := c.Free(); err != nil {
			return err
		}
		return d.Barrier()
	})
}

// A failure is an error until it is acknowledged, and known everywhere after an agreement.
func TestAcknowledge(t *testing.T) {
	localWithCrashes(t, 3, func(w *mpi.Comm) error {
		if w.Rank() == 1 {
			return errCrash
		}
		if _, err := w.Agree(1); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("Agree: %v", err)
		}
		if f := w.Failed(); !slices.Equal(f, []int{1}) {
			return fmt.Errorf("failed: %v", f)
		}
		other := 2 - w.Rank()
		b := []int{0}
		r, err := mpi.Irecv(w, b, mpi.AnySource, 0)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); !errors.Is(err, mpi.ErrProcFailed) || !r.Active() {
			return fmt.Errorf("Wait: %v; active: %v", err, r.Active())
		}
		if n := w.AckFailed(1); n != 1 {
			return fmt.Errorf("%d are acknowledged", n)
		}
		if _, err := w.Agree(1); err != nil { // then both have seen the error, and acknowledged
			return fmt.Errorf("Agree: %w", err)
		}
		if err := mpi.Send(w, []int{7}, other, 0); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil || b[0] != 7 {
			return fmt.Errorf("Wait: %v, %d", err, b[0])
		}
		return nil
	})
}

// Resilient collectives end with the same result at all that live, whichever ranks die, in one
// communicator that nobody revokes. The result tells who has contributed: those that have died
// stay away. Data is small or large by turns, and operations are the program's own.
func TestResilient(t *testing.T) {
	for seed := range uint64(8) {
		const n, rounds = 6, 30
		rng := rand.New(rand.NewPCG(seed, 9))
		dieAt := map[int]int{rng.IntN(n): rng.IntN(rounds), rng.IntN(n): rng.IntN(rounds), rng.IntN(n): rng.IntN(rounds)}
		var stories [n][]string
		localWithCrashes(t, n, func(w *mpi.Comm) error {
			me := w.Rank()
			w.SetResilient(true)
			w.SetStrict(seed%2 == 1)
			say := func(what string, result int, err error) error {
				stories[me] = append(stories[me], fmt.Sprintf("%s %b %v %t", what, result, w.Missing(), err != nil))
				if errors.Is(err, mpi.ErrProcFailed) {
					w.AckFailed(n)
					return nil
				}
				return err
			}
			for round := range rounds {
				if at, dies := dieAt[me]; dies && at == round {
					return errCrash
				}
				give := make([]int, []int{1, 300, 5000}[round%3])
				for i := range give {
					give[i] = 1 << me
				}
				sum := give // in place
				if round%2 == 0 {
					sum = make([]int, len(give))
				}
				err := mpi.Allreduce(w, give, sum, mpi.Sum)
				for r := range n {
					at, dies := dieAt[r]
					if gave := sum[len(sum)-1]>>r&1 != 0; sum[0] != sum[len(sum)-1] || gave == (dies && at <= round) || gave == slices.Contains(w.Missing(), r) {
						return fmt.Errorf("seed %d, round %d: rank %d counts: %v; without %v", seed, round, r, gave, w.Missing())
					}
				}
				if err := say("sum", sum[0], err); err != nil {
					return err
				}
				if err := say("barrier", 0, w.Barrier()); err != nil {
					return err
				}
				root, most := round%n, []int{-1}
				if err = mpi.Reduce(w, []int{me}, most, mpi.Max, root); err == nil && root == me && most[0] < me {
					return fmt.Errorf("seed %d: reduce: %d", seed, most[0])
				}
				if err := say("max", 0, err); err != nil {
					return err
				}
			}
			return nil
		})
		var whole []string
		for _, s := range stories {
			if len(s) > len(whole) {
				whole = s
			}
		}
		for r, s := range stories {
			if _, dies := dieAt[r]; !dies && !slices.Equal(s, whole) {
				t.Errorf("seed %d: rank %d has\n%v\nanother\n%v", seed, r, s, whole)
			}
		}
	}
}
