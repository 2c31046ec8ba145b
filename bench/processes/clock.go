package processes

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic is CLOCK_MONOTONIC in nanoseconds: one clock for all processes of a
// machine.
func Monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("processes: no monotonic clock: " + err.Error()) // every Linux has it
	}
	return t.Nano()
}

// ProcessorTime is the time of processors that a process has used so far, with all its threads.
func ProcessorTime(pid int) (time.Duration, error) {
	const perProcess = 2 // CPUCLOCK_SCHED, of a whole process
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|perProcess), &t)
	return time.Duration(t.Nano()), err
}

// pollPause is how often WaitFor looks.
const pollPause = 5 * time.Millisecond

// WaitFor calls done again and again until it says yes, or the time is up, or stop is closed.
func WaitFor(stop <-chan struct{}, limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); ; {
		if done() {
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
