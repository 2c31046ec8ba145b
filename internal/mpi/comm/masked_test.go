package comm_test

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// In a job with replicas agreements and shrinks are as if nobody died, while all replicas of a rank
// but one do. Those in the background end in any order.
func TestMaskedAgreements(t *testing.T) {
	const n, rounds = 3, 60
	for dies := range rounds / 12 {
		local(t, n, 2, func(w *comm.Comm, replica int) error {
			c := w
			c.SetResilient(true)
			for i := range rounds {
				if w.Rank() == dies%n && replica == dies%2 && i == dies*12 {
					return jointest.ErrDies // while agreements are under way at others
				}
				first, second := c.Iagree(^uint32(0)&^(1<<w.Rank())), c.Iagree(uint32(i))
				if _, err := w.Engine().Wait(second.Handle()); err != nil {
					return err
				}
				flags, err := second.Flags(nil)
				if err != nil || flags != uint32(i) {
					return fmt.Errorf("round %d: the members agree on %x, %v", i, flags, err)
				}
				_, err = w.Engine().Wait(first.Handle())
				if flags, err = first.Flags(err); err != nil || flags != ^uint32(0)&^(1<<n-1) {
					return fmt.Errorf("round %d: the members agree on %x, %v", i, flags, err)
				}
				if failed, err := c.AgreeFailed(); err != nil || len(failed) > 0 {
					return fmt.Errorf("round %d: %v have failed, %v", i, failed, err)
				}
				d, err := c.Shrink()
				if err != nil || d.Size() != n || d.Rank() != w.Rank() {
					return fmt.Errorf("round %d: a shrink: %v", i, err)
				}
				if c != w {
					c.Free()
				}
				c = d
			}
			if err := c.Revoke(); !errors.Is(err, process.ErrReplicated) {
				return fmt.Errorf("revoke: %v", err)
			}
			return c.Barrier().Run()
		})
	}
}
