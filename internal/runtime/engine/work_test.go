package engine_test

import (
	"testing"
	"time"

	"banyan/internal/runtime/engine"
)

// A step that blocks, of a schedule that runs in the background, keeps nobody: the program sends
// and receives beside it, and this process's heartbeats go on. Then it adds the steps that come
// next, whose size nobody knew before.
func TestWork(t *testing.T) {
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			var s engine.Schedule
			s.Context, s.Tag = context, 7
			release := make(chan bool)
			size := s.Scratch(1)
			s.Receive(1, size)
			s.Wait()
			var got []byte
			s.Work(func() {
				<-release
				got = s.Scratch(int(size[0]))
				s.Receive(1, got)
				s.Wait()
				s.Work(func() { got[0]++ })
			})
			h := e.Start(&s)
			var b [1]byte
			if _, err := e.ReceiveWait(context, 1, 8, b[:]); err != nil {
				t.Error(err)
			}
			// In a call that waits for it, the same. The other process gives up after
			// a second of silence.
			var beside engine.Schedule
			ran := false
			beside.Work(func() {
				time.Sleep(1200 * time.Millisecond)
				ran = true
			})
			if err := e.Run(&beside); err != nil || !ran {
				t.Errorf("in the call: %v, %v", ran, err)
			}
			if _, done, _ := e.Test(h); done {
				t.Error("the schedule has ended without its work")
			}
			close(release)
			if _, err := e.Wait(h); err != nil || string(got) != "bbc" {
				t.Errorf("%q, %v", got, err)
			}
			e.SendWait(context, 1, 9, nil)
		},
		func(e *engine.Engine) {
			e.SendWait(context, 0, 7, []byte{3})
			e.SendWait(context, 0, 8, []byte{0})
			e.SendWait(context, 0, 7, []byte("abc"))
			if _, err := e.ReceiveWait(context, 0, 9, nil); err != nil {
				t.Errorf("the other process counts as dead, or so: %v", err)
			}
		},
	})
}
