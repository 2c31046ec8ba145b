package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// FloorTransport names the machine's floor: two threads hand a word to and fro, in a cache line
// for each direction. No message between two cores is faster.
const FloorTransport = "cache line"

// padded is a word with a cache line, and the next, to itself.
type padded struct {
	_    [128]byte
	word atomic.Uint64
	_    [128]byte
}

// floorSpins bounds the polls in a row that don't offer the core to others: the ping-pong must
// also end on a machine with fewer cores than threads.
const floorSpins = 10000

// MeasureFloor measures the ping-pong of FloorTransport, as if of 8 bytes.
func MeasureFloor(most int) []Sample {
	var there, back padded
	n := uint64(Operations(8, most)) * 100
	await := func(p *padded, value uint64) {
		for spins := 1; p.word.Load() != value; spins++ {
			if spins%floorSpins == 0 {
				runtime.Gosched()
			}
		}
	}
	var other sync.WaitGroup
	other.Go(func() {
		runtime.LockOSThread()
		for i := range n {
			await(&there, i+1)
			back.word.Store(i + 1)
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for i := range n {
		there.word.Store(i + 1)
		await(&back, i+1)
	}
	took := time.Since(start)
	other.Wait()
	p := Patterns[0]
	return []Sample{{Pattern: p.Name, Ranks: p.Ranks, Size: 8, Nanoseconds: float64(took.Nanoseconds()) / float64(n*2)}}
}
