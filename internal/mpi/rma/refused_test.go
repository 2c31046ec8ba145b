package rma

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
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

// A datatype that is nested so deeply that no target reads it is refused, and nobody waits in vain
// for what it would fetch.
func TestRefusedDepth(t *testing.T) {
	const levels, wide = 1001, 34
	deep, end := integer, int64(1)
	for range levels {
		lengths, disps, types := make([]int64, wide), make([]int64, wide), make([]*datatype.Type, wide)
		for i := range wide {
			lengths[i], disps[i], types[i] = 1, 8*end, integer
			end += 2
		}
		disps[0], types[0] = 0, deep
		var err error
		if deep, err = datatype.Struct(lengths, disps, types); err != nil {
			t.Fatal(err)
		}
	}
	for _, replicas := range []int{1, 2} {
		local(t, 2, replicas, func(world *comm.Comm) error {
			w, err := open(world, int(end), true, true, together)
			if err != nil {
				return err
			}
			if err := w.Fence(true); err != nil {
				return err
			}
			if world.Rank() == 0 {
				got := make([]int64, deep.Size()/8)
				a := Access{Rank: 1, Type: deep, Count: 1, Result: Buffer{integer, unsafe.Pointer(&got[0]), int64(len(got))}}
				if _, err := w.Do(a.Get()); err != nil {
					return err
				}
			}
			err = w.Fence(false)
			if is := errors.Is(err, ErrRange); is != (world.Rank() == 0 || replicas > 1) {
				return fmt.Errorf("the fence at rank %d: %w", world.Rank(), err)
			}
			return w.close()
		})
	}
}

// A displacement that wraps to one within the part is refused.
func TestRefusedDisplacement(t *testing.T) {
	local(t, 1, 1, func(world *comm.Comm) error {
		w, err := open(world, 4, true, true, together)
		if err != nil {
			return err
		}
		if err := w.Fence(true); err != nil {
			return err
		}
		seven := int64(7)
		for _, disp := range []int64{1 << 61, -1 << 61, 1<<62 + 1} {
			_, err = w.Do(Access{Disp: disp, Type: integer, Count: 1, Origin: Buffer{integer, unsafe.Pointer(&seven), 1}}.Put())
			if !errors.Is(err, ErrRange) {
				return fmt.Errorf("displacement %d: %w", disp, err)
			}
		}
		return w.close()
	})
}

// Regions that are attached one after the other are as good as one that is as long.
func TestAttachedInARow(t *testing.T) {
	w := &target{}
	memory := make([]byte, 300)
	at := uintptr(unsafe.Pointer(&memory[0]))
	w.regions = []region{{at + 100, 50}, {at, 100}, {at + 200, 100}}
	for _, c := range []struct {
		first uintptr
		n     int64
		want  bool
	}{{0, 100, true}, {0, 150, true}, {0, 151, false}, {99, 2, true}, {149, 1, true}, {150, 1, false}, {140, 80, false}, {200, 100, true}, {299, 2, false}} {
		if got := w.attached(at+c.first, c.n); got != c.want {
			t.Errorf("%d bytes from %d on: %v", c.n, c.first, got)
		}
	}
}
