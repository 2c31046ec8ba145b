package rma

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// threads runs two threads of a rank, and gives the first error.
func threads(a, b func() error) error {
	other := make(chan error, 1)
	go func() { other <- b() }()
	err := a()
	if failed := <-other; err == nil {
		err = failed
	}
	return err
}

// A thread that flushes waits also for what another thread that flushes waits for, and a thread
// that waits for a request gets its data, although the other thread has taken it.
func TestThreadsFlush(t *testing.T) {
	const n = 5000
	pairs, err := datatype.Resized(integer, 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	local(t, 2, 1, func(world *comm.Comm) error {
		w, err := open(world, n, true, true, together)
		if err != nil {
			return err
		}
		for i := range w.own {
			w.own[i] = int64(i) + 1
		}
		if err := world.Barrier().Run(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			world.Engine().ManyThreads()
			if err := w.LockAll(false); err != nil {
				return err
			}
			stop := make(chan bool)
			err := threads(func() error {
				defer close(stop)
				for round := range 300 {
					got := make([]int64, 2*n)
					a := Access{Rank: 1, Type: integer, Count: n, Result: Buffer{pairs, unsafe.Pointer(&got[0]), n}}.Get()
					if round%2 == 0 {
						a = a.Requested()
					}
					o, err := w.Do(a)
					if err != nil {
						return err
					}
					if round%2 == 0 {
						s, err := world.Engine().Wait(o.Handle())
						if err := o.End(s, err); err != nil {
							return fmt.Errorf("round %d: %w", round, err)
						}
					} else if err := w.Flush(1, round%4 == 1); err != nil {
						return err
					}
					for i := range n {
						if got[2*i] != int64(i)+1 {
							return fmt.Errorf("round %d: integer %d is %d", round, i, got[2*i])
						}
					}
				}
				return nil
			}, func() error {
				for {
					select {
					case <-stop:
						return nil
					default:
					}
					if err := w.Flush(1, true); err != nil {
						return err
					}
				}
			})
			if err != nil {
				return err
			}
			if err := w.UnlockAll(); err != nil {
				return err
			}
		}
		return w.close()
	})
}

// Threads of a rank that is alone with its window add to the same elements.
func TestThreadsAlone(t *testing.T) {
	const n, rounds = 512, 300
	local(t, 1, 1, func(world *comm.Comm) error {
		world.Engine().ManyThreads()
		w, err := open(world, 2*n, true, false, together)
		if err != nil {
			return err
		}
		if err := w.Lock(0, false, false); err != nil {
			return err
		}
		add := func() error {
			one := make([]complex128, n)
			for i := range one {
				one[i] = complex(1, 2)
			}
			for range rounds {
				_, err := w.Do(Access{Type: complexType, Count: n, Op: reduce.Sum, Kind: datatype.Complex128,
					Origin: Buffer{complexType, unsafe.Pointer(&one[0]), n}}.Accumulate())
				if err != nil {
					return err
				}
			}
			return nil
		}
		if err := threads(add, add); err != nil {
			return err
		}
		if err := w.Unlock(0); err != nil {
			return err
		}
		for i, v := range unsafe.Slice((*complex128)(unsafe.Pointer(&w.own[0])), n) {
			if v != complex(2*rounds, 4*rounds) {
				return fmt.Errorf("element %d is %v", i, v)
			}
		}
		// One thread starts an epoch to the rank itself before the other one posts.
		begin := time.Now()
		for range 20 {
			err := threads(func() error {
				time.Sleep(2 * time.Millisecond)
				if err := w.Post([]int{0}); err != nil {
					return err
				}
				return w.Wait()
			}, func() error {
				if err := w.Start([]int{0}); err != nil {
					return err
				}
				time.Sleep(2 * time.Millisecond)
				return w.Complete()
			})
			if err != nil {
				return err
			}
		}
		if took := time.Since(begin); took > 10*time.Second {
			return fmt.Errorf("20 epochs took %v", took)
		}
		return w.close()
	})
}
