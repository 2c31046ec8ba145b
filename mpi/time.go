package mpi

import "time"

// begun is where Wtime counts from.
var begun = time.Now()

// Wtime is a time in seconds, from a moment in the past on. With "banyan run --order leader" all
// replicas of a rank get the same times. A program whose messages depend on the time asks here.
func (c *Comm) Wtime() float64 {
	now := func() float64 { return time.Since(begun).Seconds() }
	if e := c.c.Engine(); e.Led() {
		return e.Time(now)
	}
	return now()
}
