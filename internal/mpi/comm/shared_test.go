package comm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
	"banyan/internal/testing/explore"
)

// mix combines pairs of numbers: associative, not commutative, so that it shows the order.
var mix = comm.Op{Combiner: comm.Func(func(left, right []byte) {
	for i := 0; i+16 <= len(left); i += 16 {
		a, b := binary.LittleEndian.Uint64(left[i:]), binary.LittleEndian.Uint64(left[i+8:])
		c, d := binary.LittleEndian.Uint64(right[i:]), binary.LittleEndian.Uint64(right[i+8:])
		binary.LittleEndian.PutUint64(left[i:], a*c)
		binary.LittleEndian.PutUint64(left[i+8:], a*d+b) // the composition of x → a·x + b
	}
}), Size: 16}

// bracketed isn't associative: it shows the brackets, too.
var bracketed = comm.Op{Combiner: comm.Func(func(left, right []byte) {
	for i := 0; i+16 <= len(left); i += 8 {
		binary.LittleEndian.PutUint64(left[i:], 3*binary.LittleEndian.Uint64(left[i:])+7*binary.LittleEndian.Uint64(right[i:])+1)
	}
}), Size: 16}

// sharedJob runs a job of goroutines that share memory as processes of one host do.
func sharedJob(t *testing.T, ranks int, run func(w *comm.Comm, die func()) error) []error {
	t.Helper()
	limit := jointest.Limit
	if explore.Long() {
		limit = time.Hour
	}
	return jointest.Errors(t, join.LocalConfig{Ranks: ranks, Replicas: 1, SharedMemory: true}, limit, func(_ int, m *join.Member) error {
		w, err := comm.World(m.Engine)
		if err != nil {
			return err
		}
		return run(w, m.Die)
	})
}

func warm(w *comm.Comm) error {
	for range comm.SharedFrom {
		if err := w.Barrier().Run(); err != nil {
			return err
		}
	}
	if !w.Shares() {
		return errors.New("the communicator has no common memory")
	}
	return nil
}

func filled(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Through the common memory every collective has the outcome that it has by messages, to the bit.
// One communicator has common memory, the other one makes the same calls by messages.
func TestSharedIsTheSame(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 7, 8, 13, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rounds := 400 / n
			for i, err := range sharedJob(t, n, func(w *comm.Comm, _ func()) error {
				if err := warm(w); err != nil {
					return err
				}
				other, err := w.Dup()
				if err != nil {
					return err
				}
				other.ByMessages()
				lots := rand.New(rand.NewPCG(uint64(n), 1))
				for i := range rounds {
					if err := sameByBoth(w, other, lots, uint64(i)); err != nil {
						return fmt.Errorf("round %d: %w", i, err)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", i, err)
				}
			}
		})
	}
}

func sameByBoth(w, other *comm.Comm, lots *rand.Rand, round uint64) error {
	n, r := w.Size(), w.Rank()
	m := 16 * lots.IntN(4)
	if lots.IntN(4) == 0 {
		m = 16 * lots.IntN(256/n)
	}
	kind, root, inPlace := lots.IntN(6), lots.IntN(n), lots.IntN(2) == 0
	op := mix
	if lots.IntN(2) == 0 {
		op = bracketed
	}
	var got [2][]byte
	for i, c := range []*comm.Comm{w, other} {
		mine := filled(m, round<<8|uint64(r))
		recv := make([]byte, m)
		if inPlace {
			recv = mine
		}
		var p *comm.Plan
		switch kind {
		case 0:
			p, recv = c.Barrier(), nil
		case 1:
			p, recv = c.Bcast(mine, root), mine
		case 2:
			if r != root {
				recv = nil
			}
			p = c.Reduce(mine, recv, op, root)
		case 3:
			p = c.Allreduce(mine, recv, op)
		case 4:
			recv = make([]byte, n*m)
			p = c.Allgather(mine, recv)
		case 5:
			recv = make([]byte, n*m)
			p = c.Alltoall(filled(n*m, round<<8|uint64(r)), recv, 16)
		}
		if err := p.Run(); err != nil {
			return err
		}
		got[i] = recv
	}
	if !bytes.Equal(got[0], got[1]) {
		return fmt.Errorf("kind %d of %d bytes, root %d: %x through the common memory, %x by messages", kind, m, root, got[0], got[1])
	}
	return nil
}

// Members that mean different calls get an error, at least one of them.
func TestSharedMismatch(t *testing.T) {
	errs := sharedJob(t, 2, func(w *comm.Comm, _ func()) error {
		if err := warm(w); err != nil {
			return err
		}
		size := 16 * (1 + w.Rank())
		return w.Allreduce(make([]byte, size), make([]byte, size), mix).Run()
	})
	for i, err := range errs {
		var size *process.SizeError
		if !errors.Is(err, comm.ErrMismatch) || !errors.As(err, &size) || size.Has != 16*(2-i) || size.Fit != 16*(1+i) {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// A member dies at a random moment of random calls. The others get errors that name it, but for
// broadcasts, which reach all of them as long as the root lives.
func TestSharedDeaths(t *testing.T) {
	for seed := range uint64(12) {
		n := []int{2, 3, 4, 8}[seed%4]
		victim := int(seed) % n
		var mu sync.Mutex
		heard := map[int][]bool{} // by broadcast whose root may be dead: who has heard
		errs := sharedJob(t, n, func(w *comm.Comm, die func()) error {
			if err := warm(w); err != nil {
				return err
			}
			lots := rand.New(rand.NewPCG(seed, 0))
			at := 20 + lots.IntN(100)
			for i := range 300 {
				if i == at && w.Rank() == victim {
					go die()
				}
				data := make([]byte, 8)
				kind, root := lots.IntN(4), lots.IntN(n)
				if w.Rank() == root {
					binary.LittleEndian.PutUint64(data, uint64(i))
				}
				var err error
				switch kind {
				case 0:
					err = w.Barrier().Run()
				case 1:
					err = w.Allreduce(make([]byte, 16), make([]byte, 16), mix).Run()
				default:
					err = w.Bcast(data, root).Run()
				}
				if w.Rank() == victim {
					if err != nil {
						return jointest.ErrDies
					}
					continue
				}
				var lost *process.LostError
				switch {
				case err != nil && (!errors.As(err, &lost) || int(lost.Rank) != victim || i < at):
					return fmt.Errorf("call %d: %w", i, err)
				case kind > 1 && err != nil && root != victim:
					return fmt.Errorf("broadcast %d, whose root lives: %w", i, err)
				case kind > 1 && err == nil && binary.LittleEndian.Uint64(data) != uint64(i):
					return fmt.Errorf("broadcast %d brings %v", i, data)
				case kind > 1 && w.Rank() != root:
					mu.Lock()
					heard[i] = append(heard[i], err == nil)
					mu.Unlock()
				}
			}
			if w.Rank() == victim {
				return jointest.ErrDies
			}
			return nil
		})
		for i, err := range errs {
			if err != nil && i != victim {
				t.Errorf("seed %d, rank %d: %v", seed, i, err)
			}
		}
		for call, all := range heard {
			for _, h := range all {
				if h != all[0] {
					t.Errorf("seed %d: of the live members some have heard broadcast %d, and some haven't", seed, call)
				}
			}
		}
	}
}

// A member that never makes a call, since its program has come to its end, ends that of the others
// with an error.
func TestSharedForlorn(t *testing.T) {
	ended := make([]error, 3)
	for i, err := range sharedJob(t, 3, func(w *comm.Comm, _ func()) error {
		if err := warm(w); err != nil || w.Rank() == 1 {
			return err
		}
		ended[w.Rank()] = w.Barrier().Run()
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
	for i, err := range ended {
		var f *process.FinishedError
		if (i != 1) != errors.As(err, &f) || f != nil && f.Rank != 1 {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// Without common memory at one member, none uses one.
func TestSharedOrNot(t *testing.T) {
	for i, err := range sharedJob(t, 3, func(w *comm.Comm, _ func()) error {
		w.Unwilling(w.Rank() == 1)
		for range comm.SharedFrom + 1 {
			if err := w.Barrier().Run(); err != nil {
				return err
			}
		}
		if w.Shares() {
			return errors.New("one member has no common memory, and this one uses it")
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// A call through the common memory allocates nothing.
func TestSharedDoesntAllocate(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("counting coverage allocates")
	}
	const runs = 200
	for i, err := range sharedJob(t, 2, func(w *comm.Comm, _ func()) error {
		if err := warm(w); err != nil {
			return err
		}
		send, recv := make([]byte, 64), make([]byte, 128)
		n := testing.AllocsPerRun(runs, func() {
			w.Barrier().Run()
			w.Allreduce(send, recv[:64], mix).Run()
			w.Bcast(send, 0).Run()
			w.Allgather(send, recv).Run()
		})
		if n >= 1 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}
