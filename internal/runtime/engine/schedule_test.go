package engine_test

import (
	"errors"
	"testing"
	"time"

	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// join concatenates: the left operand is at the left.
type join struct{}

func (join) Combine(left, right []byte) {
	copy(left[len(left)/2:], right)
}

// A schedule runs its steps in their order while the program waits for something else, and can be
// started again.
func TestSchedule(t *testing.T) {
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			var s engine.Schedule
			s.Context, s.Tag = context, 7
			in, acc, out := s.Scratch(4), make([]byte, 4), make([]byte, 4)
			s.Copy(acc, []byte{1, 2, 0, 0})
			s.Receive(1, in)
			s.Wait()
			s.Combine(join{}, false, acc, in[:2])
			s.Copy(out, acc)
			s.Send(1, acc)
			for round := range byte(3) {
				clear(out)
				h := e.Start(&s)
				var b [1]byte
				if _, err := e.ReceiveWait(context, 1, 8, b[:]); err != nil || b[0] != round {
					t.Errorf("round %d: %v", round, err)
				}
				if _, err := e.Wait(h); err != nil || string(out) != "\x01\x02\x03\x04" {
					t.Errorf("round %d: %q, %v", round, out, err)
				}
			}
		},
		func(e *engine.Engine) {
			for round := range byte(3) {
				e.SendWait(context, 0, 7, []byte{3, 4, 5, 6})
				b := make([]byte, 4)
				if _, err := e.ReceiveWait(context, 0, 7, b); err != nil || string(b) != "\x01\x02\x03\x04" {
					t.Errorf("round %d: %q, %v", round, b, err)
				}
				e.SendWait(context, 0, 8, []byte{round})
			}
		},
	})
}

// Schedules of one lane run one after another; a schedule outside of the lane doesn't wait.
func TestLane(t *testing.T) {
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			var lane engine.Lane
			var first, second, beside engine.Schedule
			for tag, s := range []*engine.Schedule{&first, &second, &beside} {
				s.Context, s.Tag, s.Lane = context, int32(tag), &lane
			}
			beside.Lane = nil
			var b [1]byte
			first.Receive(1, b[:])
			first.Wait()
			first.Send(1, []byte{1})
			second.Send(1, []byte{2})
			beside.Send(1, []byte{3})
			hs := []engine.Handle{e.Start(&first), e.Start(&second), e.Start(&beside)}
			for _, h := range hs {
				if _, err := e.Wait(h); err != nil {
					t.Error(err)
				}
			}
		},
		func(e *engine.Engine) {
			var b [1]byte
			want := func(tag int32, value byte) {
				t.Helper()
				if _, err := e.ReceiveWait(context, 0, tag, b[:]); err != nil || b[0] != value {
					t.Errorf("tag %d: %d, %v", tag, b, err)
				}
			}
			want(2, 3)
			time.Sleep(5 * time.Millisecond)
			if _, ok, _ := e.Probe(context, 0, 1); ok {
				t.Error("the second of the lane runs before the first has ended")
			}
			e.SendWait(context, 0, 0, b[:])
			want(0, 1)
			want(1, 2)
		},
	})
}

// A schedule whose context is closed ends with the error and skips its later steps. So do the
// schedules behind it in its lane.
func TestScheduleEndsWithItsContext(t *testing.T) {
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			var lane engine.Lane
			var first, second engine.Schedule
			b, later := []byte{0}, []byte{0}
			for _, s := range []*engine.Schedule{&first, &second} {
				s.Context, s.Lane = context, &lane
				s.Receive(1, b)
				s.Wait()
				s.Copy(later, []byte{9})
			}
			one, two := e.Start(&first), e.Start(&second)
			e.CloseContext(context)
			for _, h := range []engine.Handle{one, two} {
				if _, err := e.Wait(h); !errors.Is(err, process.ErrFreed) {
					t.Errorf("it ends with %v", err)
				}
			}
			if later[0] != 0 {
				t.Error("a step after the failure has run")
			}
		},
		func(e *engine.Engine) {},
	})
}
