package correctedtrees

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls a function for 0…n-1, each once, on so many workers. Each worker makes
// its own function, for memory of its own, and finish, which is called at its end by one worker at a
// time. It ends early with the first error, or with the context's.
func parallel(ctx context.Context, workers, n int, progress func(done int), worker func() (do func(i int) error, finish func())) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		next  atomic.Int64
		group sync.WaitGroup
		mutex sync.Mutex
		done  int
	)
	for range min(workers, n) {
		group.Go(func() {
			do, finish := worker()
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					stop(err)
					return
				}
				mutex.Lock()
				done++
				progress(done)
				mutex.Unlock()
			}
			mutex.Lock()
			defer mutex.Unlock()
			finish()
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
