package detection

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC in nanoseconds: one clock for all processes of a
// machine.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("detection: no monotonic clock: " + err.Error()) // every Linux has it
	}
	return t.Nano()
}

// pollPause is how often the bench looks at the board while it waits.
const pollPause = 5 * time.Millisecond

// waitFor looks again and again until met says yes, or the time is up, or stop
// is closed.
func waitFor(stop <-chan struct{}, limit time.Duration, met func() bool) bool {
	for end := time.Now().Add(limit); ; {
		if met() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		select {
		case <-stop:
			return false
		case <-time.After(pollPause):
		}
	}
}
