package engine_test

import (
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
)

// The engine asks whether a silent process is starved before it counts as dead. While it is
// starved it doesn't.
func TestStarvedIsNotDead(t *testing.T) {
	const timeout = 100 * time.Millisecond
	asked := 0 // under the engine's lock
	e := engine.New(engine.Config{
		Process: process.Config{
			Layout: layout.Uniform(2, 1), Period: proto.Time(timeout / 10), Timeout: proto.Time(timeout),
		},
		Starved: func(q proto.Proc) bool {
			if q != 1 {
				t.Errorf("asked about %v", q)
			}
			asked++
			return asked < 4
		},
	}, inproc.NewNetwork(2).Endpoint(0))
	defer e.Close()
	select {
	case ev := <-e.Events():
		late := ev.Report.Silent > proto.Time(10*timeout) // this process was starved itself: it believes no one silent for longer
		if ev.Kind != engine.Died || ev.Report.Cause != detector.CauseSilence || asked != 4 && !(late && asked < 4) {
			t.Errorf("%+v after it was asked about %d times", ev, asked)
		}
	case <-time.After(30 * time.Second):
		t.Error("it is never taken for dead")
	}
}
