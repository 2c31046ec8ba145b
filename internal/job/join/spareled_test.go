package join

import (
	"net"
	"runtime"
	"testing"
	"time"

	"banyan/internal/job/pmi"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// A replacement that isn't known to all ends with the spare leader, and doesn't connect to the
// next one: that would wait for it, as for a process of the job.
func TestReplacementEndsWithItsSpareLeader(t *testing.T) {
	ours, theirs := net.Pipe()
	go pmi.NewServer(1, "job", nil).Serve(0, theirs)
	launcher, err := pmi.NewClient(ours, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	exited := make(chan int, 1)
	j := &Job{ending: newEnding(), launcher: launcher}
	j.layout, j.replacement = layout.Uniform(2, 2), &replacement{incarnations: make([]proto.Incarnation, 4)}
	j.exit = func(code int) { exited <- code; runtime.Goexit() }
	s := newSpareLed(j)
	s.stage.set(joining)
	wentOn := make(chan struct{})
	go func() {
		s.lose()
		close(wentOn)
	}()
	select {
	case <-wentOn:
		t.Error("it goes on before it has acted on the loss")
	case <-time.After(10 * time.Millisecond):
	}
	go s.obey()
	select {
	case <-wentOn:
		t.Error("it goes to the next spare leader")
	case code := <-exited:
		if code != 0 {
			t.Errorf("it ends with code %d", code)
		}
	}
}

// A process of the job goes on to the next spare leader once it has given up the replacement that
// isn't known to all.
func TestOthersOutliveTheirSpareLeader(t *testing.T) {
	j := &Job{ending: newEnding()}
	j.layout = layout.Uniform(2, 2)
	s := newSpareLed(j)
	go s.obey()
	s.lose()
	close(j.done)
	s.lose() // at the end nothing listens
}
