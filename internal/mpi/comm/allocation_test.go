package comm_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"banyan/internal/mpi/comm"
)

// Small blocking collectives allocate nothing once warm.
func TestNoAllocations(t *testing.T) {
	const ranks, warm, rounds = 4, 300, 2000
	var allocs atomic.Uint64
	local(t, ranks, 1, func(w *comm.Comm, _ int) error {
		send, recv, all := make([]byte, 8), make([]byte, 8), make([]byte, 8*ranks)
		parts := make([]byte, 8*ranks)
		op := comm.Op{Combiner: comm.Func(affine), Size: 2}
		round := func() error {
			for _, p := range [...]*comm.Plan{
				w.Barrier(), w.Bcast(recv, 1), w.Reduce(send, recv, op, 2), w.Allreduce(send, recv, op),
				w.ReduceScatter(parts, recv, nil, op), w.Scan(send, recv, op), w.Exscan(send, recv, op),
				w.Gather(send, all, 0), w.Scatter(parts, recv, 3), w.Allgather(send, all), w.Alltoall(parts, all, 8),
			} {
				if err := p.Run(); err != nil {
					return err
				}
			}
			return nil
		}
		var before, after runtime.MemStats
		for i := range warm + rounds {
			if i == warm && w.Rank() == 0 {
				runtime.ReadMemStats(&before)
			}
			if err := round(); err != nil {
				return err
			}
		}
		if w.Rank() == 0 {
			runtime.ReadMemStats(&after)
			allocs.Store(after.Mallocs - before.Mallocs)
		}
		return nil
	})
	// The count covers all ranks. Progress threads and the Go runtime allocate now and then.
	if got := allocs.Load(); got > rounds/10 {
		t.Errorf("%d heap objects in %d rounds of 11 collectives at %d ranks", got, rounds, ranks)
	}
}
