package logp

import "sync"

// fewProcs are too few processes for one broadcast to be shared between two cores. So campaigns,
// which have a broadcast for each core, don't share them.
const fewProcs = 1 << 20

// share does something for 0…n-1, in two halves at once unless there are fewer than few. The halves
// must not touch the same memory.
func share(n, few int, do func(from, to int)) {
	if n < max(2, few) {
		do(0, n)
		return
	}
	var second sync.WaitGroup
	second.Go(func() { do(n/2, n) })
	do(0, n/2)
	second.Wait()
}
