package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"banyan/mpi"
)

// call is a collective: what starts it, and what its results have to be.
type call struct {
	name  string
	start func(c *mpi.Comm) (mpi.Request, error)
	check func() error
}

// calls are all collectives, each with data of its own, for a rank of n.
func calls(n, me int) []call {
	var all []call
	add := func(name string, want, got []int, start func(c *mpi.Comm) (mpi.Request, error)) {
		all = append(all, call{name, start, func() error {
			if len(got) != len(want) {
				return fmt.Errorf("%s: %d elements", name, len(got))
			}
			for i := range want {
				if got[i] != want[i] {
					return fmt.Errorf("%s: got %v, want %v", name, got, want)
				}
			}
			return nil
		}})
	}
	upTo := func(k int) int { return k * (k + 1) / 2 }
	squares, thirds, ones, offsets := make([]int, n), make([]int, 3*n), make([]int, n), make([]int, n)
	for i := range n {
		squares[i], ones[i], offsets[i] = i*i, 1, i%2
		for k := range 3 {
			thirds[3*i+k] = 100*i + k
		}
	}
	root := n / 2
	atRoot := func(x []int) []int {
		if me == root {
			return x
		}
		return make([]int, len(x))
	}
	var uneven []int // the parts of ranks with odd numbers
	for i := range n {
		uneven = append(uneven, squares[i:i+i%2]...)
	}

	b := make([]int, 2)
	if me == root {
		b[0], b[1] = 5, 6
	}
	add("Ibcast", []int{5, 6}, b, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Ibcast(c, b, root) })
	reduced := make([]int, 1)
	add("Ireduce", atRoot([]int{upTo(n - 1)}), reduced, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.Ireduce(c, []int{me}, reduced, mpi.Sum, root)
	})
	sum := make([]int, 1)
	add("Iallreduce", []int{upTo(n - 1)}, sum, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Iallreduce(c, []int{me}, sum, mpi.Sum) })
	part := make([]int, 1)
	add("IreduceScatter", []int{n * me * me}, part, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.IreduceScatter(c, squares, part, nil, mpi.Sum)
	})
	odd := make([]int, me%2)
	add("IreduceScatter counts", squares[me : me+me%2][:me%2:me%2], odd, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.IreduceScatter(c, uneven, odd, offsets, mpi.Max)
	})
	scan := make([]int, 1)
	add("Iscan", []int{upTo(me)}, scan, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Iscan(c, []int{me}, scan, mpi.Sum) })
	ex := []int{-1}
	before := -1
	if me > 0 {
		before = upTo(me - 1)
	}
	add("Iexscan", []int{before}, ex, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Iexscan(c, []int{me}, ex, mpi.Sum) })
	gathered := make([]int, n)
	add("Igather", atRoot(squares), gathered, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.Igather(c, squares[me:me+1], gathered, root)
	})
	gatheredv := make([]int, len(uneven))
	add("Igatherv", atRoot(uneven), gatheredv, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.Igatherv(c, squares[me:me+me%2], gatheredv, offsets, root)
	})
	every := make([]int, n)
	add("Iallgather", squares, every, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Iallgather(c, squares[me:me+1], every) })
	everyv := make([]int, len(uneven))
	add("Iallgatherv", uneven, everyv, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.Iallgatherv(c, squares[me:me+me%2], everyv, offsets)
	})
	mine := make([]int, 3)
	add("Iscatter", thirds[3*me:3*me+3], mine, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Iscatter(c, thirds, mine, root) })
	minev := make([]int, me%2)
	add("Iscatterv", squares[me:me+me%2], minev, func(c *mpi.Comm) (mpi.Request, error) {
		return mpi.Iscatterv(c, uneven, offsets, minev, root)
	})
	send, expect := make([]int, n), make([]int, n)
	for i := range n {
		send[i], expect[i] = 100*me+i, 100*i+me
	}
	got := make([]int, n)
	add("Ialltoall", expect, got, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Ialltoall(c, send, got) })
	gotv := make([]int, n)
	add("Ialltoallv", expect, gotv, func(c *mpi.Comm) (mpi.Request, error) { return mpi.Ialltoallv(c, send, ones, gotv, ones) })
	gotw := make([]int, n)
	add("Ialltoallw", expect, gotw, func(c *mpi.Comm) (mpi.Request, error) {
		out, in := make([]mpi.Part, n), make([]mpi.Part, n)
		for i := range n {
			out[i], in[i] = mpi.PartOf(send[i:i+1]), mpi.PartOf(gotw[i:i+1])
		}
		return mpi.Ialltoallw(c, out, in)
	})
	add("Ibarrier", nil, nil, func(c *mpi.Comm) (mpi.Request, error) { return c.Ibarrier() })
	return all
}

// All collectives may be under way at once, and give what they should.
func TestNonBlockingCollectives(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		all := calls(w.Size(), w.Rank())
		requests := make([]*mpi.Request, len(all))
		for i, c := range all {
			r, err := c.start(w)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			requests[i] = &r
		}
		if err := mpi.WaitAll(requests...); err != nil {
			return err
		}
		return checkAll(all)
	})
}

func checkAll(all []call) (err error) {
	for _, c := range all {
		err = errors.Join(err, c.check())
	}
	return err
}

// Persistent requests do the same each time that they are started, in any order, whatever the ranks
// start in between.
func TestPersistentRequests(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		n, me := w.Size(), w.Rank()
		kept := w.Persistent()
		all := calls(n, me)
		requests := make([]*mpi.Request, len(all))
		for i, c := range all {
			r, err := c.start(kept)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if r.Active() {
				return fmt.Errorf("%s is active", c.name)
			}
			requests[i] = &r
		}
		out, in := []int{0}, []int{0}
		s, err := mpi.Isend(kept, out, (me+1)%n, 3)
		if err != nil {
			return err
		}
		r, err := mpi.Irecv(kept, in, (me+n-1)%n, 3)
		if err != nil {
			return err
		}
		for round := range 4 {
			out[0] = 10*me + round
			if err := mpi.StartAll(&r, &s); err != nil {
				return err
			}
			for k := range requests {
				i := k
				if (round+me)%2 == 1 {
					i = len(requests) - 1 - k // ranks start them in different orders
				}
				if err := requests[i].Start(); err != nil {
					return fmt.Errorf("%s: %w", all[i].name, err)
				}
			}
			if err := requests[0].Start(); !errors.Is(err, mpi.ErrPersistent) {
				return fmt.Errorf("starting an active request: %v", err)
			}
			if err := mpi.WaitAll(append(requests, &s, &r)...); err != nil {
				return err
			}
			if err := errors.Join(checkAll(all), want("received", in, []int{10*((me+n-1)%n) + round})); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		for _, q := range append(requests, &s, &r) {
			if err := q.Free(); err != nil {
				return err
			}
		}
		one, err := w.Ibarrier()
		if err != nil {
			return err
		}
		return errors.Join(mpi.WaitAll(&one), notPersistent(&one), notPersistent(&mpi.Request{}))
	})
}

func notPersistent(r *mpi.Request) error {
	if start, free := r.Start(), r.Free(); !errors.Is(start, mpi.ErrPersistent) || !errors.Is(free, mpi.ErrPersistent) {
		return fmt.Errorf("Start: %v, Free: %v", start, free)
	}
	return nil
}
