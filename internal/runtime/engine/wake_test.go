package engine_test

import (
	"testing"
	"time"

	"banyan/internal/runtime/engine"
)

// A goroutine that tests in a loop sleeps in the transport now and then. Goroutines that wait
// meanwhile must hear of what it finds there, although it waits for something that depends on
// them.
func TestTestLoopWakesWaiters(t *testing.T) {
	const rounds = 50
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			go func() { // the waiter
				var b [1]byte
				for range rounds {
					e.ReceiveWait(context, 1, 1, b[:])
					e.SendWait(context, 1, 1, b[:])
				}
			}()
			var b [1]byte
			for range rounds {
				h := e.Receive(context, 1, 2, b[:])
				for done := false; !done; {
					_, done, _ = e.Test(h)
				}
			}
		},
		func(e *engine.Engine) {
			var b [1]byte
			for range rounds {
				time.Sleep(2 * time.Millisecond) // long enough that the waiter blocks
				e.SendWait(context, 0, 1, b[:])
				e.ReceiveWait(context, 0, 1, b[:])
				e.SendWait(context, 0, 2, b[:])
			}
		},
	})
}
