package rma

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"banyan/internal/mpi/comm"
)

// A target refuses what lies outside of its part, although the origin didn't: nobody waits in vain,
// and the part stays as it is.
func TestRefused(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		local(t, 3, replicas, func(world *comm.Comm) error {
			w, err := open(world, 4, true, true, together)
			if err != nil {
				return err
			}
			if world.Rank() == 0 { // this rank believes that the part is larger
				w.memory.Parts[1].Size = 1 << 20
			}
			if err := w.Fence(true); err != nil {
				return err
			}
			wrong, right := []int64{77}, []int64{5}
			buffer := func(v []int64) Buffer { return Buffer{integer, unsafe.Pointer(&v[0]), 1} }
			if world.Rank() == 0 {
				if _, err := w.Do(Access{Rank: 1, Disp: 100, Type: integer, Count: 1, Origin: buffer(wrong)}.Put()); err != nil {
					return err
				}
				if _, err := w.Do(Access{Rank: 1, Disp: 2, Type: integer, Count: 1, Origin: buffer(right)}.Put()); err != nil {
					return err
				}
			}
			err = w.Fence(false)
			told := replicas // with replicas it is the target that learns of it, else the origin
			if is := errors.Is(err, ErrRange); is != (world.Rank() == told-1) {
				return fmt.Errorf("the fence at rank %d: %w", world.Rank(), err)
			}
			if world.Rank() == 1 && w.own[2] != 5 {
				return fmt.Errorf("the part is %d", w.own)
			}
			return w.close()
		})
	}
}
