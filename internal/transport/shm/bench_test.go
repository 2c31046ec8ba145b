package shm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/wire"
)

// bothThreads runs two functions on threads of their own, each on its core, until
// both have ended. The threads end with them.
func bothThreads(here, there func()) {
	var both sync.WaitGroup
	for core, run := range []func(){here, there} {
		both.Go(func() {
			runtime.LockOSThread()
			var set unix.CPUSet
			set.Set(core)
			unix.SchedSetaffinity(0, &set)
			run()
		})
	}
	both.Wait()
}

// BenchmarkCacheLine is the machine's floor: a word that two threads hand to and
// fro in one cache line each. An op is one way.
func BenchmarkCacheLine(b *testing.B) {
	var there, back struct {
		_    [64]byte
		word atomic.Uint64
		_    [64]byte
	}
	n := uint64(b.N/2 + 1)
	b.ResetTimer()
	bothThreads(func() {
		for i := uint64(1); i <= n; i++ {
			there.word.Store(i)
			for back.word.Load() != i {
			}
		}
	}, func() {
		for i := uint64(1); i <= n; i++ {
			for there.word.Load() != i {
			}
			back.word.Store(i)
		}
	})
}

// BenchmarkRing is the same with 8-byte frames over a pair of rings, no bells.
func BenchmarkRing(b *testing.B) {
	zero, one := newPair(b)
	h := wire.Header{Kind: wire.KindEager, Length: 8, Total: 8}
	payload := make([]byte, 8)
	take := func(r *Reader, in *Inbound) {
		for !r.Ready() {
		}
		if _, err := r.Next(in); err != nil {
			b.Error(err)
		}
		r.Tell()
	}
	n := b.N/2 + 1
	b.ResetTimer()
	bothThreads(func() {
		var in Inbound
		for range n {
			zero.Out.Frame(&h, payload)
			take(&zero.In, &in)
		}
	}, func() {
		var in Inbound
		for range n {
			take(&one.In, &in)
			one.Out.Frame(&h, payload)
		}
	})
}

// BenchmarkWriteRead is what a frame costs one core, both ends together.
func BenchmarkWriteRead(b *testing.B) {
	zero, one := newPair(b)
	h := wire.Header{Kind: wire.KindEager, Length: 8, Total: 8}
	payload := make([]byte, 8)
	var in Inbound
	for b.Loop() {
		zero.Out.Frame(&h, payload)
		if found, err := one.In.Next(&in); err != nil || found != Frame {
			b.Fatal(found, err)
		}
		one.In.Tell()
	}
}
