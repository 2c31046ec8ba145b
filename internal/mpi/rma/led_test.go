package rma

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// ledJobs is how many jobs TestLed runs.
var ledJobs = flag.Int("ledjobs", 4, "how many jobs TestLed runs")

// ledRanks is a program that depends on all that timing decides: who gets a lock first, which
// number a fetch gives, whether an exposure is over. Each rank's history is a hash of what it got.
type ledRanks struct {
	*made
	world   *comm.Comm
	history uint64
	calls   int
	dieAt   int // after so many calls; 0: never
}

func (l *ledRanks) see(v int64) { l.history = (l.history ^ uint64(v)) * 1099511628211 }

// dies counts calls, and is an error at the last one.
func (l *ledRanks) dies() error {
	if l.calls++; l.calls == l.dieAt {
		return jointest.ErrDies
	}
	return nil
}

func one(v *int64) Buffer { return Buffer{integer, unsafe.Pointer(v), 1} }

// fetch fetches and adds.
func (l *ledRanks) fetch(rank int, disp, add int64) (was int64, err error) {
	if _, err = l.Do(Access{Rank: rank, Disp: disp, Type: integer, Count: 1, Origin: one(&add), Result: one(&was), Op: reduce.Sum, Kind: datatype.Int64}.Fetch()); err == nil {
		err = l.Flush(rank, false)
	}
	return was, err
}

// counter adds to a number under an exclusive lock by reading and writing it.
func (l *ledRanks) counter(rank int) (err error) {
	if err = l.Lock(rank, true, false); err != nil {
		return err
	}
	var v int64
	if _, err = l.Do(Access{Rank: rank, Type: integer, Count: 1, Result: one(&v)}.Get()); err == nil {
		err = l.Flush(rank, false)
	}
	l.see(v)
	v++
	if err == nil {
		_, err = l.Do(Access{Rank: rank, Type: integer, Count: 1, Origin: one(&v)}.Put())
	}
	return either(err, l.Unlock(rank))
}

// tickets takes numbers from several ranks.
func (l *ledRanks) tickets(n int) error {
	if err := l.LockAll(false); err != nil {
		return err
	}
	for i := range n {
		was, err := l.fetch(i%l.world.Size(), 1, 1)
		if err != nil {
			return err
		}
		l.see(was)
		if err := l.dies(); err != nil {
			return err
		}
	}
	return l.UnlockAll()
}

// own reads and changes this rank's own part under a lock: others count there, too.
func (l *ledRanks) ownPart() error {
	self := l.world.Rank()
	if err := l.Lock(self, true, false); err != nil {
		return err
	}
	l.see(l.own[0])
	l.own[0]++
	return l.Unlock(self)
}

// exposes has rank 0 be accessed by the others, and test until they are through.
func (l *ledRanks) exposes() error {
	self, n := l.world.Rank(), l.world.Size()
	if self > 0 {
		if err := l.Start([]int{0}); err != nil {
			return err
		}
		was, add := int64(0), int64(self)
		if _, err := l.Do(Access{Disp: 2, Type: integer, Count: 1, Origin: one(&add), Result: one(&was), Op: reduce.Sum, Kind: datatype.Int64}.Fetch()); err != nil {
			return err
		}
		if err := l.Complete(); err != nil {
			return err
		}
		l.see(was)
		return nil
	}
	if err := l.Post(l.everyone()[1:n]); err != nil {
		return err
	}
	for {
		done, err := l.Test()
		if err != nil {
			return err
		}
		l.see(int64(len(fmt.Sprint(done))))
		if done {
			l.see(l.own[2])
			return nil
		}
	}
}

func (l *ledRanks) run(rounds int) error {
	for range rounds {
		for _, step := range []func() error{
			func() error { return l.counter(0) },
			func() error { return l.counter(l.world.Size() - 1) },
			l.ownPart,
			func() error { return l.tickets(4) },
			l.exposes,
			func() error { return l.Fence(true) },
			func() error { return l.Fence(false) },
		} {
			if err := step(); err != nil {
				return err
			}
			if err := l.dies(); err != nil {
				return err
			}
		}
	}
	return nil
}

// All replicas of a rank get the same, also if leaders and followers die at any call, and no count
// is lost.
func TestLed(t *testing.T) {
	const ranks, rounds = 3, 5
	for seed := range uint64(*ledJobs) {
		replicas := 2 + int(seed%2)
		r := rand.New(rand.NewPCG(seed, 1))
		dieAt := map[int]int{}
		for rank := range ranks {
			for _, k := range r.Perm(replicas)[:r.IntN(replicas)] {
				dieAt[k*ranks+rank] = 1 + r.IntN(rounds*11)
			}
		}
		var mu sync.Mutex
		histories := map[int]uint64{}
		jointest.Run(t, join.LocalConfig{Ranks: ranks, Replicas: replicas, Leader: true}, func(i int, m *join.Member) error {
			world, err := comm.World(m.Engine)
			if err != nil {
				return err
			}
			w, err := open(world, 4, true, true, together)
			if err != nil {
				return err
			}
			l := &ledRanks{made: w, world: world, dieAt: dieAt[i]}
			if err := l.run(rounds); err != nil {
				return err
			}
			want := []int64{int64(rounds), 0, 0}
			switch world.Rank() {
			case 0, ranks - 1:
				want[0] = rounds + rounds*ranks
			}
			for to := range ranks {
				for i := range 4 {
					if i%ranks == world.Rank() {
						want[1] += rounds
					}
				}
				if world.Rank() == 0 {
					want[2] += int64(to * rounds)
				}
			}
			for i, v := range want {
				if w.own[i] != v {
					return fmt.Errorf("integer %d is %d, want %d", i, w.own[i], v)
				}
			}
			mu.Lock()
			h, others := histories[world.Rank()]
			histories[world.Rank()] = l.history
			mu.Unlock()
			if others && h != l.history {
				return fmt.Errorf("replicas of rank %d got different things", world.Rank())
			}
			return w.close()
		})
		if t.Failed() || len(histories) != ranks {
			t.Fatalf("seed %d, deaths %v: %d ranks", seed, dieAt, len(histories))
		}
	}
}

// A target that computes serves meanwhile, and its memory stays as its program has it until it
// synchronises.
func TestLedComputes(t *testing.T) {
	var through [2]atomic.Bool
	jointest.Run(t, join.LocalConfig{Ranks: 2, Replicas: 2, Leader: true}, func(i int, m *join.Member) error {
		world, err := comm.World(m.Engine)
		if err != nil {
			return err
		}
		w, err := open(world, 4, true, true, together)
		if err != nil {
			return err
		}
		l := &ledRanks{made: w, world: world}
		if world.Rank() == 1 {
			for range 10 {
				if err := l.counter(0); err != nil {
					return err
				}
			}
			through[i/2].Store(true)
		} else {
			w.own[3] = 5
			for !through[i/2].Load() { // it computes
			}
			if w.own[0] != 0 {
				return fmt.Errorf("the part changes under the program's feet: %d", w.own)
			}
			if err := w.Sync(); err != nil {
				return err
			}
			if w.own[0] != 10 || w.own[3] != 5 {
				return fmt.Errorf("the part is %d", w.own)
			}
		}
		return w.close()
	})
}
