package engine_test

import (
	"errors"
	"testing"
	"time"

	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// A call that waits when the engine closes returns ErrClosed, and so does a later call.
func TestCloseEndsWaits(t *testing.T) {
	end := make(chan error, 3)
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			go func() {
				_, err := e.ReceiveWait(context, 1, 1, nil)
				end <- err
				end <- e.SendWait(context, 1, 1, nil)
			}()
			go func() {
				_, err := e.ProbeWait(context, 1, 2)
				end <- err
			}()
			time.Sleep(20 * time.Millisecond) // long enough that they block
		},
		func(*engine.Engine) {},
	})
	for range cap(end) {
		select {
		case err := <-end:
			if !errors.Is(err, process.ErrClosed) {
				t.Errorf("got %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a wait outlives its engine")
		}
	}
}
