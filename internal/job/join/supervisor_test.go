package join

import (
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"banyan/internal/job/control"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// What is said to the supervisor reaches the launcher, and goes nowhere without one.
func TestSupervisors(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	launcher := control.NewConn(theirs)
	heard := make(chan []control.Type)
	go func() {
		var types []control.Type
		for {
			m, err := launcher.Receive()
			if err != nil {
				heard <- types
				return
			}
			types = append(types, m.Type)
		}
	}()
	say := func(s supervisor) {
		s.recoveryStep(control.Message{Type: control.Committed})
		s.replacementFailed(control.Message{Type: control.HealFailed})
		s.cannotDonate("for a reason")
		s.survives()
		s.leave()
	}
	j := &Job{ending: newEnding(), log: logger()}
	j.layout = layout.Uniform(1, 1)
	j.exit = func(code int) { t.Errorf("it exits with code %d", code) }

	s := newLaunched(j, control.NewConn(ours))
	if !s.reaps() {
		t.Error("the launcher doesn't reap processes")
	}
	say(s)
	want := []control.Type{control.Committed, control.HealFailed, control.Unhealable, control.Survive, control.Finalized}
	if got := <-heard; !slices.Equal(got, want) {
		t.Errorf("the launcher hears %q, want %q", got, want)
	}

	none := &unsupervised{j}
	if none.reaps() {
		t.Error("without a launcher processes are reaped")
	}
	say(none)
	none.joinFailed(errors.New("there is no one to tell"))
	none.awaitKill()
	exited := -1
	j.exit = func(code int) { exited = code }
	none.rankLost(0, 7, "")
	if exited != 7 {
		t.Errorf("after the loss of a rank it exits with code %d", exited)
	}
}

// A launcher may tell of an earlier incarnation's death after a later one's: the next launcher
// tells all that it knows. What was announced stays announced.
func TestDeathsOfIncarnations(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	l := newLaunched(&Job{ending: newEnding()}, control.NewConn(ours))
	l.reaped = make([]atomic.Uint32, 1)
	for _, incarnation := range []proto.Incarnation{1, 0} {
		l.announce(0, incarnation)
	}
	if got := l.reaped[0].Load(); got != 2 {
		t.Errorf("the deaths of %d incarnations are announced, not 2", got)
	}
}
