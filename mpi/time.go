package mpi

import (
	"time"

	"banyan/internal/runtime/engine"
)

// begun is where Wtime counts from.
var begun = time.Now()

// Wtime is a time in seconds, from a moment in the past on. With "banyan run --order leader" all
// replicas of a rank get the same times. A program whose messages depend on the time asks here.
func (c *Comm) Wtime() float64 {
	if e := c.c.Engine(); e.Led() {
		return float64(e.Clock(engine.WtimeClock, func() int64 { return int64(time.Since(begun)) })) * 1e-9
	}
	return time.Since(begun).Seconds()
}

// Now is time.Now. With "banyan run --order leader" all replicas of a rank get the same times.
func (c *Comm) Now() time.Time {
	if e := c.c.Engine(); e.Led() {
		return time.Unix(0, e.Clock(engine.CalendarClock, func() int64 { return time.Now().UnixNano() }))
	}
	return time.Now()
}

// Decide returns what compute returns. With "banyan run --order leader" all replicas of a rank get
// what it has returned in one of them. So a program's messages may depend on what differs between
// processes, such as a clock, a random number, a process id or a file that changes:
//
//	seed := world.Decide(rand.Uint64)
//
// All replicas of a rank call it in the same order, as they do their other calls. compute must not
// communicate.
func (c *Comm) Decide(compute func() uint64) uint64 {
	if e := c.c.Engine(); e.Led() {
		return e.Value(compute)
	}
	return compute()
}
