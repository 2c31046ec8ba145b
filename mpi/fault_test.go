package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"banyan/mpi"
)

// underFaults is Local with a plan of faults and a time limit.
func underFaults(t *testing.T, n int, plan string, run func(w *mpi.Comm) error, options ...mpi.LocalOption) error {
	t.Helper()
	end := make(chan error, 1)
	go func() { end <- mpi.Local(n, run, append(options, mpi.WithFaults(plan))...) }()
	select {
	case err := <-end:
		return err
	case <-time.After(time.Minute):
		panic("the job hangs")
	}
}

// ring has each rank send to the next one and add what it gets, so often.
func ring(rounds int, done func(w *mpi.Comm, sum int)) func(w *mpi.Comm) error {
	return func(w *mpi.Comm) error {
		x, got := []int{w.Rank() + 1}, []int{0}
		for i := range rounds {
			if _, err := mpi.Sendrecv(w, x, (w.Rank()+1)%w.Size(), i, got, (w.Rank()+w.Size()-1)%w.Size(), i); err != nil {
				return err
			}
			if err := mpi.Allreduce(w, got, x, mpi.Sum); err != nil {
				return err
			}
			x[0] = (x[0] + w.Rank()) % 1009
		}
		done(w, x[0])
		return nil
	}
}

// With replicas a plan of deaths changes no result, and who is killed does nothing any more.
func TestFaultsAndReplicas(t *testing.T) {
	const n, rounds = 3, 40
	var want [n]atomic.Int64
	note := func(to *[n]atomic.Int64, ended *[n]atomic.Int32) func(w *mpi.Comm, sum int) {
		return func(w *mpi.Comm, sum int) {
			to[w.Rank()].Store(int64(sum))
			ended[w.Rank()].Add(1)
		}
	}
	var all [n]atomic.Int32
	if err := underFaults(t, n, "", ring(rounds, note(&want, &all)), mpi.WithReplicas(2)); err != nil {
		t.Fatal(err)
	}
	for plan, killed := range map[string]int{
		"kill rank=1 at=send:1": 1,
		"kill rank=1 replica=1 at=send:20; kill rank=0 at=send:35":          2,
		"random count=3 within=send:50 seed=4 action=kill":                  3,
		"kill rank=2 at=send:21; kill rank=0 replica=1 at=send:22":          2,
		"stop rank=1 at=send:30; kill rank=2 replica=1 at=send:10":          2,
		"kill rank=0 at=0s; kill rank=1 at=0s; kill rank=2 replica=1 at=1h": -1, // so many or fewer: time decides
	} {
		var got [n]atomic.Int64
		var ended [n]atomic.Int32
		if err := underFaults(t, n, plan, ring(rounds, note(&got, &ended)), mpi.WithReplicas(2)); err != nil {
			t.Errorf("%s: %v", plan, err)
			continue
		}
		came := 0
		for r := range n {
			if got[r].Load() != want[r].Load() {
				t.Errorf("%s: rank %d has %d, want %d", plan, r, got[r].Load(), want[r].Load())
			}
			came += int(ended[r].Load())
		}
		if killed >= 0 && came != 2*n-killed {
			t.Errorf("%s: %d of %d processes came to the end", plan, came, 2*n)
		}
	}
}

// Without replicas the others learn of the death, and the message before which it strikes isn't
// sent. The error of the killed rank, which has none, isn't reported.
func TestFaultsWithoutReplicas(t *testing.T) {
	for _, action := range []string{"kill", "stop"} {
		var after, deferred atomic.Bool
		err := underFaults(t, 3, action+" rank=1 at=send:3", func(w *mpi.Comm) error {
			if w.Rank() == 1 {
				defer deferred.Store(true)
				for i := range 3 {
					if err := mpi.Send(w, []int{i}, 0, 0); err != nil {
						return err
					}
					if _, err := mpi.Recv(w, []int{i}, 0, 1); err != nil {
						return err
					}
				}
				after.Store(true)
				return nil
			}
			if w.Rank() == 0 {
				for i := range 3 {
					b := []int{-1}
					_, err := mpi.Recv(w, b, 1, 0)
					if i < 2 && (err != nil || b[0] != i) || i == 2 && !errors.Is(err, mpi.ErrProcFailed) {
						return fmt.Errorf("receive %d: %v, %v", i, b, err)
					}
					if i < 2 { // what a dead rank has sent may be lost if rank 2 says first that it is dead
						if err := mpi.Send(w, b, 1, 1); err != nil {
							return err
						}
					}
				}
			}
			err := w.Barrier()
			if !errors.Is(err, mpi.ErrProcFailed) {
				return fmt.Errorf("Barrier: %v", err)
			}
			live, err := w.Shrink()
			if err != nil || live.Size() != 2 {
				return fmt.Errorf("Shrink: %v", err)
			}
			return live.Barrier()
		})
		if err != nil || after.Load() || !deferred.Load() {
			t.Errorf("%s: %v; the rank went on: %v; its deferred calls ran: %v", action, err, after.Load(), deferred.Load())
		}
	}
}

// A flipped bit is in the data, once.
func TestFlippedBits(t *testing.T) {
	var wrong atomic.Int32
	err := underFaults(t, 2, "flip rank=0 at=send:5", func(w *mpi.Comm) error {
		for i := range 10 {
			b := []uint64{uint64(i)}
			if w.Rank() == 0 {
				if err := mpi.Send(w, b, 1, 0); err != nil {
					return err
				}
				continue
			}
			if _, err := mpi.Recv(w, b, 0, 0); err != nil {
				return err
			}
			if b[0] != uint64(i) {
				if i != 4 {
					return fmt.Errorf("message %d is %d", i, b[0])
				}
				wrong.Add(1)
			}
		}
		return nil
	})
	if err != nil || wrong.Load() != 1 {
		t.Errorf("%v; %d messages were wrong", err, wrong.Load())
	}
}

// A rank that is killed while it computes ends in its next call, whatever that is. One whose
// goroutine never ends is given up.
func TestKilledWhileComputing(t *testing.T) {
	calls := map[string]func(w *mpi.Comm) error{
		"Barrier": func(w *mpi.Comm) error { return w.Barrier() },
		"Send":    func(w *mpi.Comm) error { return mpi.Send(w, []int{1}, 0, 0) },
		"Recv":    func(w *mpi.Comm) error { _, err := mpi.Recv(w, []int{1}, 0, 0); return err },
		"Agree":   func(w *mpi.Comm) error { _, err := w.Agree(1); return err },
		"Split":   func(w *mpi.Comm) error { _, err := w.Split(0, 0); return err },
		"Iallgather": func(w *mpi.Comm) error {
			r, err := mpi.Iallgather(w, []int{1}, make([]int, 2))
			return errors.Join(err, mpi.WaitAll(&r))
		},
	}
	for name, call := range calls {
		var survived atomic.Bool
		err := underFaults(t, 2, "kill rank=1 at=1ms", func(w *mpi.Comm) error {
			if w.Rank() == 1 {
				time.Sleep(20 * time.Millisecond)
				call(w)
				survived.Store(true)
			}
			return nil
		})
		if err != nil || survived.Load() {
			t.Errorf("%s: %v; it has returned: %v", name, err, survived.Load())
		}
	}
	never := make(chan bool)
	defer close(never) // for goleak
	err := underFaults(t, 2, "kill rank=1 at=send:1", func(w *mpi.Comm) error {
		if w.Rank() == 1 {
			go mpi.Send(w, []int{1}, 0, 0)
			<-never
		}
		return nil
	})
	if err != nil {
		t.Errorf("a goroutine that never ends: %v", err)
	}
}

func TestBadFaultPlans(t *testing.T) {
	for plan, text := range map[string]string{
		"crash rank=1 at=1s":           `"crash" is no action`,
		"kill rank=2 at=1s":            "rank 2 is not among 0…1",
		"kill rank=1 at=step:4":        "simulations only",
		"kill rank=1 replica=1 at=1ms": "replica 1 is not among",
	} {
		err := underFaults(t, 2, plan, func(*mpi.Comm) error { t.Error("it runs"); return nil })
		if err == nil || !strings.HasPrefix(err.Error(), "mpi: Local: ") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", plan, err)
		}
	}
}
