package engine_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const context = 2

// pair runs two ranks.
func pair(t *testing.T, run [2]func(e *engine.Engine), change ...func(rank int, cfg *engine.Config)) {
	runtime.GOMAXPROCS(max(16, runtime.GOMAXPROCS(0)))
	layout := layout.Uniform(2, 1)
	net := inproc.NewNetwork(2)
	end := make(chan error, 2)
	for i := range run {
		cfg := engine.Config{Process: process.Config{
			Self: proto.Proc(i), Layout: layout, Period: 100e6, Timeout: 1e9,
		}}
		for _, set := range change {
			set(i, &cfg)
		}
		e := engine.New(cfg, net.Endpoint(proto.Proc(i)))
		if err := e.OpenContext(context, []proto.Rank{0, 1}, false); err != nil {
			t.Fatal(err)
		}
		go func() {
			run[i](e)
			end <- e.Finish()
		}()
	}
	for range run {
		select {
		case err := <-end:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			panic("the job hangs")
		}
	}
}

// A rank that computes, and never calls the library, still receives: the progress thread
// answers the offer of a large message.
func TestProgressThreadMakesProgress(t *testing.T) {
	var arrived atomic.Bool
	data := make([]byte, 1<<20)
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			if err := e.SendWait(context, 1, 0, data); err != nil {
				t.Error(err)
			}
			arrived.Store(true)
		},
		func(e *engine.Engine) {
			h := e.Receive(context, 0, 0, make([]byte, len(data)))
			x := 0.5
			for start := time.Now(); !arrived.Load(); {
				for range 1000 {
					x = 3.9 * x * (1 - x)
				}
				if time.Since(start) > 20*time.Second {
					t.Error("nobody made progress while the program computed")
					break
				}
			}
			if _, err := e.Wait(h); err != nil {
				t.Error(err, x)
			}
		},
	})
}

// Waiters of one process don't keep each other from waking, whichever of them sleeps.
func TestSeveralWaiters(t *testing.T) {
	const goroutines, messages = 8, 300
	run := func(self proto.Rank) func(e *engine.Engine) {
		return func(e *engine.Engine) {
			done := make(chan bool)
			for g := range int32(goroutines) {
				go func() {
					var b [1]byte
					for i := range messages {
						if (int32(self)+int32(i))%2 == 0 {
							e.SendWait(context, 1-self, g, b[:])
						} else if _, err := e.ReceiveWait(context, 1-self, g, b[:]); err != nil {
							t.Error(err)
						}
						if i%50 == 0 {
							time.Sleep(time.Millisecond) // long enough that others block
						}
					}
					done <- true
				}()
			}
			for range goroutines {
				<-done
			}
		}
	}
	pair(t, [2]func(e *engine.Engine){run(0), run(1)})
}

func TestTestLoopEnds(t *testing.T) {
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			time.Sleep(30 * time.Millisecond)
			e.SendWait(context, 1, 3, []byte{9})
		},
		func(e *engine.Engine) {
			var b [1]byte
			h := e.Receive(context, 0, 3, b[:])
			for {
				_, done, err := e.Test(h)
				if err != nil {
					t.Error(err)
				}
				if done {
					break
				}
			}
			if b[0] != 9 {
				t.Errorf("got %d", b[0])
			}
		},
	})
}

// Sending and receiving small messages allocates nothing once warm.
func TestNoAllocations(t *testing.T) {
	const n = 20_000
	var allocs atomic.Uint64
	pingPong := func(e *engine.Engine, first bool, n int) {
		var b [64]byte
		peer := proto.Rank(0)
		if first {
			peer = 1
		}
		for range n {
			if first {
				e.SendWait(context, peer, 0, b[:])
			}
			e.ReceiveWait(context, peer, 0, b[:])
			if !first {
				e.SendWait(context, peer, 0, b[:])
			}
		}
	}
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			pingPong(e, true, n/10)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			pingPong(e, true, n)
			runtime.ReadMemStats(&after)
			allocs.Store(after.Mallocs - before.Mallocs)
		},
		func(e *engine.Engine) { pingPong(e, false, n/10+n) },
	})
	// The count covers both ranks' 4n operations. The progress thread and the Go runtime allocate
	// now and then.
	if got := allocs.Load(); got > n/20 {
		t.Errorf("%d heap objects for %d messages", got, 2*n)
	}
}
