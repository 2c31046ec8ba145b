package shm

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/wire"
)

// bothThreads runs two functions on threads of their own, each on its core, until both have
// ended. The threads end with them.
func bothThreads(here, there func()) {
	var both sync.WaitGroup
	for core, run := range []func(){here, there} {
		both.Go(func() { onCore(core, run) })
	}
	both.Wait()
}

// onCore runs a function on a core. The thread ends with the goroutine.
func onCore(core int, run func()) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	unix.SchedSetaffinity(0, &set)
	run()
}

// BenchmarkCacheLine measures the machine's lower bound: two threads hand a word to and fro, in
// one cache line each. An op is one way.
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

// BenchmarkRing measures the same with 8-byte frames over a pair of rings, without doorbells.
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

// BenchmarkWriteRead measures what a frame costs one core, both ends together.
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

// BenchmarkWake measures the time from one sleeper's wake-up to that of the other, which it
// wakes, with each way to sleep, and with both on one core or on two. An op is one way.
func BenchmarkWake(b *testing.B) {
	for _, way := range []struct {
		name string
		make func(b *testing.B) sleeper
	}{{"futex", newFutex}, {"eventfd", newEventfd}} {
		for cores := 1; cores <= 2; cores++ {
			b.Run(fmt.Sprintf("%s/%d", way.name, cores), func(b *testing.B) {
				here, there := way.make(b), way.make(b)
				n := b.N/2 + 1
				b.ResetTimer()
				var both sync.WaitGroup
				both.Go(func() {
					onCore(0, func() {
						for range n {
							there.wake()
							here.sleep()
						}
					})
				})
				both.Go(func() {
					onCore(cores-1, func() {
						for range n {
							there.sleep()
							here.wake()
						}
					})
				})
				both.Wait()
			})
		}
	}
}

type sleeper struct{ sleep, wake func() }

func newFutex(*testing.B) sleeper {
	const wait, wake = 0, 1
	word := new(atomic.Uint32)
	futex := func(op, value uintptr) {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), op, value, 0, 0, 0)
	}
	return sleeper{
		sleep: func() {
			for !word.CompareAndSwap(1, 0) {
				futex(wait, 0)
			}
		},
		wake: func() {
			word.Store(1)
			futex(wake, 1)
		},
	}
}

// newEventfd is an edge-triggered eventfd in an epoll set.
func newEventfd(b *testing.B) sleeper {
	alarm, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		b.Fatal(err)
	}
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closeAll(alarm, set) })
	if err := unix.EpollCtl(set, unix.EPOLL_CTL_ADD, alarm, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}); err != nil {
		b.Fatal(err)
	}
	events := make([]unix.EpollEvent, 8)
	one := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	return sleeper{
		sleep: func() {
			for n := 0; n <= 0; n, _ = unix.EpollWait(set, events, -1) {
			}
		},
		wake: func() { unix.Write(alarm, one) },
	}
}
