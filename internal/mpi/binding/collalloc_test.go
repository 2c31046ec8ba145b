package binding

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Small blocking collectives of contiguous data allocate nothing once warm.
func TestCollectivesDontAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector lets pools forget")
	}
	const n, warm, rounds = 2, 300, 2000
	var allocs atomic.Uint64
	ranks(t, n, func(t *testing.T, p *Process) {
		a, b, c := numbers(4, 0), numbers(4, 0), numbers(4*n, 0)
		var before, after runtime.MemStats
		for i := range warm + rounds {
			if i == warm && rankOf(p) == 0 {
				runtime.ReadMemStats(&before)
			}
			ok(t, "Barrier", p.Barrier(Blocking("MPI_Barrier"), CommWorld))
			ok(t, "Bcast", p.Bcast(Blocking("MPI_Bcast"), ints(a), 4, TypeInt, 1, CommWorld))
			ok(t, "Allreduce", p.Allreduce(Blocking("MPI_Allreduce"), ints(a), ints(b), 4, TypeInt, OpMax, CommWorld))
			ok(t, "Reduce", p.Reduce(Blocking("MPI_Reduce"), ints(a), ints(b), 4, TypeInt, OpSum, 0, CommWorld))
			ok(t, "Allgather", p.Allgather(Blocking("MPI_Allgather"), ints(a), 4, TypeInt, ints(c), 4, TypeInt, CommWorld))
			ok(t, "Scan", p.Scan(Blocking("MPI_Scan"), ints(a), ints(b), 4, TypeInt, OpSum, CommWorld))
		}
		if rankOf(p) == 0 {
			runtime.ReadMemStats(&after)
			allocs.Store(after.Mallocs - before.Mallocs)
		}
	})
	// The count covers both ranks. The progress threads and the runtime allocate now and then.
	if got := allocs.Load(); got > rounds/20 {
		t.Errorf("%d heap objects in %d rounds", got, rounds)
	}
}
