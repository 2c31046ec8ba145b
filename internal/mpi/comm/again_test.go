package comm_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
	"banyan/internal/testing/explore"
)

// Whole processes revoke, shrink and free communicators again and again, each time with agreements
// before, some of which go through common memory. What they keep doesn't grow.
func TestRevokedAgainAndAgain(t *testing.T) {
	rounds := 400
	if explore.Long() {
		rounds = 100_000
	}
	const n = 3
	meet := newRendezvous(n)
	var early, late uint64
	for r, err := range sharedJob(t, n, func(w *comm.Comm, _ func()) error {
		c := w
		for i := range rounds {
			agreements := 1
			if i%100 == 0 {
				agreements = 2 * comm.SharedFrom // the memory is opened, and used
			}
			for range agreements {
				if flags, err := c.Agree(^uint32(0) &^ (1 << w.Rank())); err != nil || flags != ^uint32(0)&^(1<<n-1) {
					return fmt.Errorf("round %d: %x, %v", i, flags, err)
				}
			}
			if agreements > 1 && !c.SharesAgreements() {
				return fmt.Errorf("round %d: the members don't share memory", i)
			}
			if w.Rank() == i%n {
				c.Revoke()
			} else if err := c.Barrier().Run(); !errors.Is(err, process.ErrRevoked) {
				return fmt.Errorf("round %d: the barrier ends with %v", i, err)
			}
			d, err := c.Shrink()
			if err != nil || d.Size() != n {
				return fmt.Errorf("round %d: shrink: %v", i, err)
			}
			if c != w {
				c.Free()
			}
			c = d
			if at := i + 1; at == rounds/4 || at == rounds {
				meet.all(func() { early, late = late, inUse() })
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	t.Logf("%d bytes are in use after a quarter of %d rounds, %d in the end", early, rounds, late)
	if late > early+early/4+256<<10 {
		t.Errorf("%d bytes are in use after a quarter of %d rounds, and %d in the end", early, rounds, late)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err != nil || strings.Count(string(maps), "banyan-cells") > 3*n {
		t.Errorf("common memory of communicators that were freed stays mapped, %d times (%v)", strings.Count(string(maps), "banyan-cells"), err)
	}
}

// inUse is the size of the heap without garbage.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the first has finalizers and cleanups run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// rendezvous is where all ranks wait while one of them measures.
type rendezvous struct {
	sync.Mutex
	n, here int
	open    chan struct{}
}

func newRendezvous(n int) *rendezvous { return &rendezvous{n: n, open: make(chan struct{})} }

// all has the last rank that comes do something before any goes on.
func (r *rendezvous) all(do func()) {
	r.Lock()
	open := r.open
	if r.here++; r.here == r.n {
		do()
		r.here, r.open = 0, make(chan struct{})
		close(open)
	}
	r.Unlock()
	<-open
}
