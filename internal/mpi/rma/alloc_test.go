package rma

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// A message that is heard costs no memory, neither its origin nor its target: both ranks together
// allocate little, and that for flushes.
func TestHeardMessagesAllocateLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const messages, mostEach = 4000, 0.3
	local(t, 2, 1, func(world *comm.Comm) error {
		w, err := open(world, 64, true, true, together)
		if err != nil {
			return err
		}
		if err := w.LockAll(true); err != nil {
			return err
		}
		if world.Rank() == 0 {
			value := []int64{1}
			a := Access{Rank: 1, Type: integer, Count: 1, Op: reduce.Sum, Kind: datatype.Int64, Origin: Buffer{integer, unsafe.Pointer(&value[0]), 1}}
			puts := func(n int) error {
				for i := range n {
					do := a.Put()
					if i%2 == 1 {
						do = a.Accumulate()
					}
					if _, err := w.Do(do); err != nil {
						return err
					}
					if i%50 == 49 {
						if err := w.Flush(1, false); err != nil {
							return err
						}
					}
				}
				return nil
			}
			if err := puts(500); err != nil {
				return err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := puts(messages); err != nil {
				return err
			}
			runtime.ReadMemStats(&after)
			each := float64(after.Mallocs-before.Mallocs) / messages
			t.Logf("%.2f allocations a message", each)
			if each > mostEach {
				return fmt.Errorf("%.2f allocations a message", each)
			}
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
		return w.close()
	})
}
