package join

import (
	"banyan/internal/proto"
	"net"
	"runtime"
	"testing"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/pmi"
)

// A replacement on its way ends with the spare leader, and doesn't come to the next one: that would wait for it, as for one
// of the job.
func TestReplacementEndsWithItsSpareLeader(t *testing.T) {
	ours, theirs := net.Pipe()
	go pmi.NewServer(1, "job", nil).Serve(0, theirs)
	launcher, err := pmi.NewClient(ours, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	exited := make(chan int, 1)
	j := &Job{
		pmi:  launcher,
		news: make(chan control.Message), lost: make(chan chan struct{}), done: make(chan struct{}), facts: newFacts(4), replacement: &replacement{incarnations: make([]proto.Incarnation, 4)},
		exit: func(code int) { exited <- code; runtime.Goexit() },
	}
	j.joining.Store(true)
	wentOn := make(chan struct{})
	go func() {
		j.lose()
		close(wentOn)
	}()
	select {
	case <-wentOn:
		t.Error("it goes on before it has looked what that means")
	case <-time.After(10 * time.Millisecond):
	}
	go j.obey()
	select {
	case <-wentOn:
		t.Error("it goes to the next spare leader")
	case code := <-exited:
		if code != 0 {
			t.Errorf("it ends with code %d", code)
		}
	}
}

// A process of the job goes to the next spare leader once it has given up the replacement that was on its way.
func TestOthersOutliveTheirSpareLeader(t *testing.T) {
	j := &Job{lost: make(chan chan struct{}), done: make(chan struct{}), facts: newFacts(4)}
	go j.obey()
	j.lose()
	close(j.done)
	j.lose() // at the end nobody listens
}
