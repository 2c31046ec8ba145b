package rma

import (
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// awaitLoss waits until this rank knows of a death.
func awaitLoss(world *comm.Comm, rank int) error {
	for end := time.Now().Add(20 * time.Second); !world.Engine().Lost(proto.Rank(rank)); {
		if time.Now().After(end) {
			return fmt.Errorf("rank %d isn't lost", rank)
		}
		world.Engine().Look(func(func(proto.Rank) bool) (bool, error) { return false, nil })
	}
	return nil
}

// opens makes a window of which rank 2 dies afterwards, when all have it.
func opens(world *comm.Comm, integers int, host func(proto.Rank) int32) (*made, error) {
	w, err := open(world, integers, true, true, host)
	if err == nil && world.Rank() < 2 {
		return w, world.Send(nil, 2, 1)
	}
	for r := 0; err == nil && r < 2; r++ {
		_, err = world.Recv(nil, r, 1)
	}
	return w, err
}

// A target that has died doesn't keep others waiting, which have posted for the same call of Start:
// it is called again without the dead.
func TestStartAgain(t *testing.T) {
	local(t, 3, 1, func(world *comm.Comm) error {
		w, err := opens(world, 4, together)
		if err != nil {
			return err
		}
		switch world.Rank() {
		case 0:
			if err := w.Start([]int{1, 2}); !errors.Is(err, process.ErrRankLost) {
				return fmt.Errorf("the start: %w", err)
			}
			if err := w.Start([]int{1}); err != nil {
				return err
			}
			return w.Complete()
		case 1:
			if err := w.Post([]int{0}); err != nil {
				return err
			}
			return w.Wait()
		}
		return jointest.ErrDies
	})
}

// An epoch that a death has ended leaves nothing to the next one: what an origin says that lives
// belongs to the first.
func TestTestAfterDeath(t *testing.T) {
	local(t, 3, 1, func(world *comm.Comm) error {
		w, err := opens(world, 4, together)
		if err != nil {
			return err
		}
		switch world.Rank() {
		case 0:
			if err := w.Post([]int{1, 2}); err != nil {
				return err
			}
			if err := awaitLoss(world, 2); err != nil {
				return err
			}
			done := false
			for err = nil; !done && err == nil; {
				done, err = w.Test()
			}
			if !errors.Is(err, process.ErrRankLost) {
				return fmt.Errorf("the test: %w", err)
			}
			if err := w.Post([]int{1}); err != nil {
				return err
			}
			if err := w.Wait(); err != nil {
				return err
			}
			if w.own[0] != 7 {
				return errors.New("the epoch ends before its put has come")
			}
		case 1:
			if err := w.Start([]int{0}); err != nil {
				return err
			}
			if err := awaitLoss(world, 2); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
			if err := w.Complete(); err != nil {
				return err
			}
			if err := w.Start([]int{0}); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
			seven := int64(7)
			if _, err := w.Do(Access{Type: integer, Count: 1, Origin: Buffer{integer, unsafe.Pointer(&seven), 1}}.Put()); err != nil {
				return err
			}
			return w.Complete()
		default:
			if err := w.Start([]int{0}); err != nil {
				return err
			}
			return jointest.ErrDies
		}
		return nil
	})
}

// hears has a target hear a message until it is through with it.
func hears(w *made, from int, m *message, meanwhile func()) {
	data := append(m.append(nil), m.data...)
	w.comm.Engine().Tell(func() {
		for !w.target.Hear(w.comm.Ranks()[from], data) {
			meanwhile()
		}
	})
}

// What is heard of the dead is carried out once, and gives them no lock.
func TestHeardAfterDeath(t *testing.T) {
	const n = 40000
	local(t, 3, 1, func(world *comm.Comm) error {
		w, err := opens(world, 2*n, func(r proto.Rank) int32 { return int32(r) })
		if err != nil {
			return err
		}
		if world.Rank() == 2 {
			return jointest.ErrDies
		}
		if err := awaitLoss(world, 2); err != nil || world.Rank() == 1 {
			return err
		}
		ones := make([]complex128, n)
		for i := range ones {
			ones[i] = 1
		}
		m := &message{verb: accumulate, op: reduce.Sum, kind: datatype.Complex128, place: place{size: 16 * n},
			data: unsafe.Slice((*byte)(unsafe.Pointer(&ones[0])), 16*n)}
		lost := false
		hears(w, 2, m, func() {
			if !lost {
				w.target.Lost(2)
			}
			lost = true
		})
		if !lost {
			return errors.New("the message is heard at once: make it larger")
		}
		for i, v := range unsafe.Slice((*complex128)(unsafe.Pointer(&w.own[0])), n) {
			if v != 1 {
				return fmt.Errorf("element %d is %v", i, v)
			}
		}
		hears(w, 2, &message{verb: lockExclusive, answer: 1}, nil)
		if err := w.Lock(0, true, false); err != nil {
			return err
		}
		return w.Unlock(0)
	})
}

// A rank dies in the midst of an accumulate, among others or alone: nobody waits for it, and what
// it had not ended keeps nobody out.
func TestDeathInTurn(t *testing.T) {
	for _, alone := range []bool{false, true} {
		local(t, 3, 1, func(world *comm.Comm) error {
			w, err := open(world, 1000, false, false, together)
			if err != nil {
				return err
			}
			if err := w.LockAll(true); err != nil {
				return err
			}
			if world.Rank() == 2 {
				if !w.memory.TryTurn(0, alone, nil) {
					return errors.New("the part isn't free")
				}
				for r := range 2 {
					err = either(err, world.Send(nil, r, 1))
				}
				for r := range 2 {
					_, again := world.Recv(nil, r, 1)
					err = either(err, again)
				}
				return either(err, jointest.ErrDies)
			}
			if _, err := world.Recv(nil, 2, 1); err != nil {
				return err
			}
			if err := world.Send(nil, 2, 1); err != nil {
				return err
			}
			ones := make([]int64, 1000)
			for i := range ones {
				ones[i] = 1
			}
			for _, n := range []int64{1, 1000, 1, 1000} {
				a := Access{Type: integer, Count: n, Op: reduce.Sum, Kind: datatype.Int64, Origin: Buffer{integer, unsafe.Pointer(&ones[0]), n}}
				if _, err := w.Do(a.Accumulate()); err != nil {
					return err
				}
			}
			return w.UnlockAll()
		})
	}
}
