// Package parallel shares independent simulations among cores. A result must not depend on the
// worker that computed it: simulation i draws from a seed made of i, and writes to index i.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"

	"banyan/internal/splitmix"
)

// Each calls do for i = 0…n-1 on so many workers, numbered from 0, each of which takes the next i
// when it is free; a worker's number lets it keep its memory between calls. The first error, or
// the end of the context, stops the rest and is returned. done, if not nil, is called with how
// many are done, by one worker at a time.
func Each(ctx context.Context, n, workers int, done func(int), do func(worker, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var lock sync.Mutex
	through := 0
	var group sync.WaitGroup
	for worker := range max(1, min(workers, n)) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := do(worker, i); err != nil {
					cancel(err)
					return
				}
				lock.Lock()
				through++
				if done != nil {
					done(through)
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// Seed makes the seed of one simulation of many from the seed of all: a mixer
// (splitmix64) of both, so that neighbours have nothing in common.
func Seed(seed uint64, parts ...int) uint64 {
	for _, p := range parts {
		seed = splitmix.Finalise(seed + splitmix.Gamma*(uint64(p)+1))
	}
	return seed
}
