package join

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/layout"
)

// A process that takes another's leave for its loss, and then hears that all have left, leaves in
// order as well. So does one that has no error handler, if the launcher announces the loss and lets
// the job go on. One whose launcher says nothing ends.
func TestLossThatWasALeave(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	begin := func() (*Job, *launched, chan int) {
		j := &Job{ending: newEnding()}
		j.layout = layout.Uniform(3, 1)
		exits := make(chan int, 1)
		j.exit = func(code int) { exits <- code }
		l := newLaunched(j, control.NewConn(ours))
		l.reaped = make([]atomic.Uint32, 3)
		j.supervisor = l
		return j, l, exits
	}
	left, _, leftExits := begin()
	close(left.done)
	left.end(2, 1, "rank 2 is lost")

	survived, launcher, survivedExits := begin()
	survived.end(2, 1, "rank 2 is lost")
	launcher.reaped[2].Store(1)

	lost, _, exits := begin()
	lost.end(2, 1, "rank 2 is lost")
	select {
	case <-exits:
	case <-time.After(2 * endGrace):
		t.Error("the launcher doesn't end the job after a loss, and the process goes on")
	}
	if len(leftExits)+len(survivedExits) > 0 {
		t.Error("a process exits though all have left, or the job survives")
	}
}
