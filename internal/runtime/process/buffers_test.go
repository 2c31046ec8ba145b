package process

import (
	"runtime"
	"testing"
	"unsafe"

	"banyan/internal/layout"
)

// Every slice is of the smallest class that has room for it, and goes back to that class.
func TestBuffersFit(t *testing.T) {
	var b buffers
	for size := range 1<<largestClass + 100 {
		c := class(size)
		if c < classes && size > capacity(c) || c > 0 && size <= capacity(c-1) {
			t.Fatalf("%d bytes are of class %d", size, c)
		}
	}
	for _, size := range []int{0, 1, 64, 128, 129, 4096, 8192, 8192 + 512, 8192 + 513, 64<<10 + 64, 1 << 20} {
		s := b.get(size)
		if len(s) != size || cap(s) != capacity(class(size)) {
			t.Fatalf("%d bytes: a slice of %d with room for %d", size, len(s), cap(s))
		}
		b.put(s)
		if again := b.get(size); unsafe.SliceData(again) != unsafe.SliceData(s) {
			t.Fatalf("%d bytes: what was put isn't what is got", size)
		}
	}
}

// Buffers are taken from Config.Memory, next to each other and never overlapping, before
// anything is allocated.
func TestBuffersOfGivenMemory(t *testing.T) {
	memory := make([]byte, 1<<20)
	b := buffers{memory: memory}
	sizes := []int{8 << 10, 100, 64<<10 + 16, 4096}
	allocations := testing.AllocsPerRun(1, func() {
		b.memory = memory
		for _, size := range sizes {
			copy(b.get(size), memory[:1])
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations beside the memory that is there", allocations)
	}
	b.memory = memory
	next := 0
	for _, size := range sizes {
		s := b.get(size)
		if unsafe.SliceData(s) != &memory[next] {
			t.Fatalf("%d bytes aren't at %d", size, next)
		}
		if next += cap(s); next%64 != 0 {
			t.Fatalf("after %d bytes comes %d, which isn't the beginning of a line", size, next)
		}
	}
	b.memory = b.memory[:100]
	if s := b.get(8 << 10); len(s) != 8<<10 {
		t.Error("no more memory, and no slice")
	}
}

// What is kept for a replica that lags behind doesn't grow the heap: else the garbage collector
// would run for it.
func TestRetainedIsNotOnTheHeap(t *testing.T) {
	p, w := single(t, layout.Uniform(2, 2))
	p.buffers.memory = make([]byte, MemorySize)
	data := make([]byte, 8<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const messages = 1000
	for range messages {
		if h := p.Send(2, 1, 0, data); h != (Handle{}) {
			t.Fatal("the send waits for something")
		}
		w.headers = w.headers[:0]
	}
	runtime.ReadMemStats(&after)
	if n, bytes := p.replica.Retained(); n != messages || bytes != messages*8<<10 {
		t.Fatalf("%d messages of %d bytes are kept", n, bytes)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > messages<<10 {
		t.Errorf("%d bytes were allocated for %d messages", grown, messages)
	}
}
