package join

import (
	"net"
	"testing"

	"banyan/internal/job/control"
)

// A process that takes another's leave for its loss, and then hears that all have left, leaves in
// order as well.
func TestLossThatWasALeave(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	j := &Job{ending: newEnding()}
	j.exit = func(code int) { t.Errorf("it exits with code %d", code) }
	j.supervisor = newLaunched(j, control.NewConn(ours))
	close(j.done)
	j.end(1, "rank 2 is lost")

	exited := false
	j.exit, j.done = func(int) { exited = true }, make(chan struct{})
	j.end(1, "rank 2 is lost")
	if !exited {
		t.Error("the launcher doesn't end the job after a loss, and the process goes on")
	}
}
