package engine

import (
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// The progress thread leaves a program alone for longer where processes share cores, but not beyond
// its next heartbeat.
func TestNextTick(t *testing.T) {
	const hour, soon = 3600 * time.Second, 5 * time.Millisecond
	for _, test := range []struct {
		crowd         int
		period        time.Duration
		least, atMost time.Duration
	}{
		{1, hour, progressTick, progressTick},
		{2, hour, sharedTick, sharedTick},
		{2, soon, progressTick, soon},
	} {
		e := New(Config{Crowd: test.crowd, Process: process.Config{
			Layout: layout.Uniform(2, 1), Period: proto.Time(test.period), Timeout: proto.Time(10 * hour),
		}}, &silence{wait: func() { time.Sleep(time.Millisecond) }})
		e.lock()
		if got := e.nextTick(); got < test.least || got > test.atMost {
			t.Errorf("%d processes a core, a heartbeat each %v: %v, want %v to %v", test.crowd, test.period, got, test.least, test.atMost)
		}
		e.unlock()
		e.Close()
	}
}
