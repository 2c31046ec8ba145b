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
	const enough = 20 // more than are asked before it is doubtful
	r, asked := silence(t, func(asked int) bool { return asked < enough })
	if r.Silent <= 2*silent && asked >= enough {
		t.Errorf("it was starved, and dead after %v", r.Silent)
	}
	if asked < enough && r.Silent < 10*silent { // later nobody is believed to be starved
		t.Errorf("it is dead after %v, and %d questions", r.Silent, asked)
	}
}

// What is asked compares with what was seen when it was last asked. So the engine asks when a
// process is overdue: the first answer, which can't be known, doesn't put off a death.
func TestLooksBeforeDoubt(t *testing.T) {
	r, asked := silence(t, func(int) bool { return false })
	if late := r.Silent > 2*silent+silent/2; asked < 2 && !late { // late: this process was starved itself
		t.Errorf("it is dead after %v, and %d questions: there was no second look", r.Silent, asked)
	}
}

// silent is the time-out. A process that was never heard of has twice that.
const silent = proto.Time(100 * time.Millisecond)

// silence has a process of two that nobody ever hears of, until it is taken for dead. It returns
// why, and how often it was asked whether it is starved.
func silence(t *testing.T, starved func(asked int) bool) (detector.Report, int) {
	t.Helper()
	asked := 0 // under the engine's lock
	e := engine.New(engine.Config{
		Process: process.Config{Layout: layout.Uniform(2, 1), Period: silent / 10, Timeout: silent},
		Starved: func(q proto.Proc) bool {
			if q != 1 {
				t.Errorf("asked about %v", q)
			}
			asked++
			return starved(asked)
		},
	}, inproc.NewNetwork(2).Endpoint(0))
	select {
	case ev := <-e.Events():
		e.Close()
		if ev.Kind != engine.Died || ev.Report.Cause != detector.CauseSilence {
			t.Fatalf("%+v", ev)
		}
		return ev.Report, asked
	case <-time.After(30 * time.Second):
		e.Close()
		t.Fatal("it is never taken for dead")
	}
	panic("unreachable")
}
