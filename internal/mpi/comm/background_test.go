package comm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// medley carries out random collectives: blocking ones, and many at a time in the background, for
// which it waits in any order. Beside them it sends messages between neighbours. It calls at before
// each collective.
func medley(w *comm.Comm, seed uint64, rounds int, at func(i int) error) error {
	// lots are the same at all ranks. own differs even among replicas: it decides when the rank
	// waits for which operation, and that mustn't matter.
	lots := rand.New(rand.NewPCG(seed, 1))
	own := rand.New(rand.NewPCG(rand.Uint64(), 2))
	type running struct {
		piece
		comm.Operation
		number int
	}
	var under []running
	finish := func(k int) error {
		r := under[k]
		under = append(under[:k], under[k+1:]...)
		if err := r.Wait(); err != nil {
			return fmt.Errorf("seed %d, collective %d: %w", seed, r.number, err)
		}
		if err := r.want(); err != nil {
			return fmt.Errorf("seed %d, collective %d (%s, in the background): %w", seed, r.number, r.name, err)
		}
		return nil
	}
	right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
	for i := range rounds {
		if err := at(i); err != nil {
			return err
		}
		p := choose(lots, w, i)
		if lots.IntN(3) == 0 {
			if err := p.plan.Run(); err != nil {
				return fmt.Errorf("seed %d, collective %d: %w", seed, i, err)
			}
			if err := p.want(); err != nil {
				return fmt.Errorf("seed %d, collective %d (%s): %w", seed, i, p.name, err)
			}
		} else {
			o, err := p.plan.Start()
			if err != nil {
				return err
			}
			under = append(under, running{p, o, i})
		}
		in := make([]byte, 4)
		if _, err := sendrecv(w, data(i, w.Rank(), 4), right, in, left, i); err != nil {
			return err
		}
		if err := equal(in, data(i, left, 4))(); err != nil {
			return err
		}
		for len(under) > 12 || len(under) > 0 && own.IntN(3) == 0 {
			if err := finish(own.IntN(len(under))); err != nil {
				return err
			}
		}
	}
	for len(under) > 0 {
		if err := finish(own.IntN(len(under))); err != nil {
			return err
		}
	}
	return nil
}

func never(int) error { return nil }

// Many operations of one communicator run at a time, beside blocking ones and messages. All give
// their results.
func TestMedley(t *testing.T) {
	inEveryShape(t, func(w *comm.Comm, _ int) error { return medley(w, uint64(w.Size()), 40, never) })
}

// The same while processes die, all replicas of a rank but one at most: the program sees nothing.
func TestMedleyMasksDeaths(t *testing.T) {
	for seed := range uint64(6) {
		const n, replicas, rounds = 3, 2, 40
		rng := rand.New(rand.NewPCG(seed, 3))
		dieAt := map[[2]int]int{} // by rank and replica
		for rank := range n {
			if rng.IntN(3) > 0 {
				dieAt[[2]int{rank, rng.IntN(replicas)}] = rng.IntN(rounds)
			}
		}
		local(t, n, replicas, func(w *comm.Comm, replica int) error {
			return medley(w, seed, rounds, func(i int) error {
				if when, ok := dieAt[[2]int{w.Rank(), replica}]; ok && when == i {
					return jointest.ErrDies // while operations run in the background
				}
				return nil
			})
		})
	}
}

// Operations wait and test together with messages.
func TestMixedWaits(t *testing.T) {
	inEveryShape(t, func(w *comm.Comm, _ int) error {
		sum := make([]byte, 2)
		o, err := w.Allreduce([]byte{1, 1}, sum, comm.Op{Combiner: comm.Func(affine), Size: 2, Foreign: true}).Start()
		if err != nil {
			return err
		}
		b, err := w.Barrier().Start()
		if err != nil {
			return err
		}
		var in [1]byte
		r, err := w.Irecv(in[:], w.Rank(), 5)
		if err != nil {
			return err
		}
		if err := w.Send([]byte{9}, w.Rank(), 5); err != nil {
			return err
		}
		hs := []engine.Handle{o.Handle(), r.Handle(), b.Handle()}
		for !w.Engine().TestAll(hs) {
		}
		for len(hs) > 0 {
			k, _, err := w.Engine().WaitAny(hs)
			if err != nil {
				return err
			}
			hs = append(hs[:k], hs[k+1:]...)
		}
		if in[0] != 9 || sum[1] != byte(w.Size()) {
			return fmt.Errorf("got %d and %d", in, sum)
		}
		return nil
	})
}

// A kept plan runs again and again, and two of them run in different orders at different ranks.
func TestKeptPlans(t *testing.T) {
	inEveryShape(t, func(w *comm.Comm, _ int) error {
		sum, all := make([]byte, 2), make([]byte, w.Size())
		mine := []byte{1, 0}
		a := w.Allreduce(mine, sum, comm.Op{Combiner: comm.Func(affine), Size: 2})
		b := w.Allgather(mine[1:], all)
		for _, p := range []*comm.Plan{a, b} {
			if err := p.Keep(); err != nil {
				return err
			}
		}
		for i := range 20 {
			mine[1] = byte(i)
			first, second := a, b
			if (w.Rank()+i)%2 == 0 {
				first, second = b, a
			}
			x, err := first.Start()
			if err != nil {
				return err
			}
			y, err := second.Start()
			if err != nil {
				return err
			}
			if err := errors.Join(y.Wait(), x.Wait()); err != nil {
				return err
			}
			if int(sum[1]) != w.Size()*i%251 || all[0] != byte(i) || all[w.Size()-1] != byte(i) {
				return fmt.Errorf("round %d: %d and %d", i, sum, all)
			}
		}
		a.Free()
		b.Free()
		return nil
	})
}

// The program's own function runs on a thread of the program that is inside a call,
// and may call the library; an operation in the background waits for that.
func TestForeignCombiner(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		local(t, 2, replicas, func(w *comm.Comm, _ int) error {
			var inside, outside atomic.Int32
			op := comm.Op{Size: 2, Foreign: true, Combiner: comm.Func(func(left, right []byte) {
				if inside.Load() == 0 {
					outside.Add(1)
				}
				w.Iprobe(comm.AnySource, comm.AnyTag)
				affine(left, right)
			})}
			sum := make([]byte, 2)
			inside.Store(1) // Start is a call, too, and may find the other's data
			o, err := w.Allreduce([]byte{2, 1}, sum, op).Start()
			if err != nil {
				return err
			}
			inside.Store(0)
			time.Sleep(20 * time.Millisecond) // the progress thread brings the other's data
			inside.Store(1)
			if err := o.Wait(); err != nil {
				return err
			}
			if sum[0] != 4 || sum[1] != 3 || outside.Load() > 0 {
				return fmt.Errorf("result %d, %d calls outside", sum, outside.Load())
			}
			return nil
		})
	}
}

// When a rank is lost, operations under way end with the error at all ranks. From then on they
// don't touch the program's memory.
func TestLostRankEndsOperations(t *testing.T) {
	const n, dead = 4, 2
	for name, plan := range map[string]func(w *comm.Comm, b []byte) *comm.Plan{
		"barrier": func(w *comm.Comm, _ []byte) *comm.Plan { return w.Barrier() },
		"allreduce": func(w *comm.Comm, b []byte) *comm.Plan {
			return w.Allreduce(b, b, comm.Op{Combiner: comm.Func(affine), Size: 2})
		},
		"allgather": func(w *comm.Comm, b []byte) *comm.Plan { return w.Allgather(b[:len(b)/n], b) },
		"alltoall":  func(w *comm.Comm, b []byte) *comm.Plan { return w.Alltoall(make([]byte, len(b)), b, 1) },
	} {
		for _, size := range []int{8, 1 << 20} {
			local(t, n, 1, func(w *comm.Comm, _ int) error {
				if w.Rank() == dead {
					time.Sleep(5 * time.Millisecond)
					return jointest.ErrDies
				}
				b := make([]byte, size)
				o, err := plan(w, b).Start()
				if err != nil {
					return err
				}
				if err := o.Wait(); !errors.Is(err, process.ErrRankLost) {
					return fmt.Errorf("%s: got %v", name, err)
				}
				for i := range b {
					b[i] = 77
				}
				time.Sleep(2 * time.Millisecond)
				for i := range b {
					if b[i] != 77 {
						return fmt.Errorf("%s: byte %d was written after the end", name, i)
					}
				}
				// Operations that start now fail at once.
				if err := w.Barrier().Run(); !errors.Is(err, process.ErrRankLost) {
					return fmt.Errorf("a barrier after it: %v", err)
				}
				return nil
			})
		}
	}
}

// Ranks that disagree about a size get an error, and none waits for ever.
func TestMismatch(t *testing.T) {
	local(t, 5, 1, func(w *comm.Comm, _ int) error {
		m := 10
		if w.Rank() == 3 {
			m = 12
		}
		err := w.MessageBcast(make([]byte, m), 0).Run()
		if (w.Rank() == 3) != errors.Is(err, comm.ErrMismatch) {
			return fmt.Errorf("rank %d: %v", w.Rank(), err)
		}
		return nil
	})
}
