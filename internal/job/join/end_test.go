package join

import (
	"net"
	"testing"

	"banyan/internal/job/control"
)

// A process that takes another's leave for its loss, and then hears that all are through,
// leaves in order as well.
func TestLossThatWasALeave(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	j := &Job{
		control: control.NewConn(ours), done: make(chan struct{}),
		exit: func(code int) { t.Errorf("it exits with code %d", code) },
	}
	close(j.done)
	j.end(1, "rank 2 is lost")

	exited := false
	j.exit, j.done = func(int) { exited = true }, make(chan struct{})
	j.end(1, "rank 2 is lost")
	if !exited {
		t.Error("after a loss that nobody ends the job for, it goes on")
	}
}
