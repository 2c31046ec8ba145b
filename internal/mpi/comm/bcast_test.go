package comm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// cast is one broadcast of a long row of random ones, the same at all members.
type cast struct {
	number, root, size int
	background         bool
}

// castSizes are around the borders between algorithms and segments.
var castSizes = []int{0, 1, 8, 100, 2048, 2049, 5000, process.SegmentLimit - 1, process.SegmentLimit,
	process.SegmentLimit + 1, 100_000, 4 * process.SegmentLimit, 700_001}

func drawCast(lots *rand.Rand, number, roots int) cast {
	size := castSizes[lots.IntN(5)]
	if lots.IntN(8) == 0 {
		size = castSizes[lots.IntN(len(castSizes))]
	}
	return cast{number: number, root: lots.IntN(roots), size: size, background: lots.IntN(3) == 0}
}

// content fills or checks the data of a broadcast. No other broadcast has the same data.
func (c cast) content(b []byte, check bool) error {
	x := uint32(c.number*2654435761 + c.size + 1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		switch {
		case !check:
			b[i] = byte(x)
		case b[i] != byte(x):
			return fmt.Errorf("broadcast %d from %d: byte %d of %d is %d, not %d", c.number, c.root, i, c.size, b[i], byte(x))
		}
	}
	return nil
}

// caster is a member's part in a row of broadcasts over one communicator.
type caster struct {
	w     *comm.Comm
	under []func() error // waits for those in the background, with their checks
}

func (a *caster) cast(c cast) error {
	b := make([]byte, c.size)
	if a.w.Rank() == c.root {
		c.content(b, false)
	}
	if !c.background {
		if err := a.w.Bcast(b, c.root).Run(); err != nil {
			return fmt.Errorf("broadcast %d of %d bytes: %w", c.number, c.size, err)
		}
		return c.content(b, true)
	}
	o, err := a.w.Bcast(b, c.root).Start()
	if err != nil {
		return err
	}
	a.under = append(a.under, func() error {
		if err := o.Wait(); err != nil {
			return fmt.Errorf("broadcast %d of %d bytes, in the background: %w", c.number, c.size, err)
		}
		return c.content(b, true)
	})
	if len(a.under) > 5 {
		return a.finish()
	}
	return nil
}

// finish waits for the broadcasts in the background, the youngest first.
func (a *caster) finish() error {
	for len(a.under) > 0 {
		last := len(a.under) - 1
		if err := a.under[last](); err != nil {
			return err
		}
		a.under = a.under[:last]
	}
	return nil
}

// localBcast is local with the choice of algorithms that read memory.
func localBcast(t *testing.T, ranks int, shared bool, run func(w *comm.Comm) error) {
	t.Helper()
	localWith(t, join.LocalConfig{Ranks: ranks, Replicas: 1, SharedMemory: shared}, func(w *comm.Comm, _ int) error { return run(w) })
}

// Broadcasts of all sizes follow each other without a barrier: from changing roots, blocking and in
// the background, over communicators that are made and freed in between. Meanwhile slow members
// still send corrections of earlier ones.
func TestBcastsInARow(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for _, shared := range []bool{false, true} {
		for _, n := range []int{1, 2, 3, 4, 7} {
			localBcast(t, n, shared, func(w *comm.Comm) error {
				lots := rand.New(rand.NewPCG(uint64(n), 1))
				a := &caster{w: w}
				for i := range rounds {
					if err := a.cast(drawCast(lots, i, n)); err != nil {
						return err
					}
					if lots.IntN(20) > 0 {
						continue
					}
					if err := a.finish(); err != nil {
						return err
					}
					dup, err := a.w.Dup()
					if err != nil {
						return err
					}
					if a.w != w {
						if err := a.w.Free(); err != nil {
							return err
						}
					}
					a.w = dup
				}
				return a.finish()
			})
		}
	}
}

// Members die in the middle of a row, but no root does: all live members get every broadcast.
func TestBcastsInARowWithDeaths(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		n := 2 + int(seed%7)
		localBcast(t, n, seed%2 == 0, func(w *comm.Comm) error {
			lots := rand.New(rand.NewPCG(seed, 2))
			roots := 1 + lots.IntN(2)
			deaths := rand.New(rand.NewPCG(seed, 3+uint64(w.Rank())))
			end := deaths.IntN(400) // some members survive the row
			a := &caster{w: w}
			for i := range 200 {
				if i == end && w.Rank() >= roots {
					return jointest.ErrDies
				}
				if err := a.cast(drawCast(lots, i, roots)); err != nil {
					return err
				}
			}
			return a.finish()
		})
	}
}

// A member that disagrees about the size gets an error, even if the sizes mean different
// algorithms.
func TestBcastMismatchWithSharedMemory(t *testing.T) {
	for _, lengths := range [][2]int{{10, 20}, {65536, 10}, {10, 65537}, {65536, 131072}, {200_000, 65536}, {200_000, 300_000}} {
		localBcast(t, 2, true, func(w *comm.Comm) error {
			err := w.Bcast(make([]byte, lengths[w.Rank()]), 0).Run()
			if w.Rank() == 1 && !errors.Is(err, comm.ErrMismatch) {
				return fmt.Errorf("lengths %v: %v", lengths, err)
			}
			return nil
		})
	}
}

// The root dies with a large broadcast under way. A member without the data is told which rank
// died.
func TestLargeBcastOfADeadRoot(t *testing.T) {
	for _, shared := range []bool{false, true} {
		localBcast(t, 4, shared, func(w *comm.Comm) error {
			b := make([]byte, 3<<20)
			if w.Rank() == 1 {
				if _, err := w.Bcast(b, 1).Start(); err != nil {
					return err
				}
				return jointest.ErrDies
			}
			time.Sleep(time.Duration(w.Rank()) * time.Millisecond)
			err := w.Bcast(b, 1).Run()
			if err != nil && !errors.Is(err, process.ErrRankLost) {
				return err
			}
			if err != nil && !bytes.Contains([]byte(err.Error()), []byte("rank 1")) {
				return fmt.Errorf("the error doesn't name who died: %w", err)
			}
			return nil
		})
	}
}
