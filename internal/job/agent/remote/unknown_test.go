package remote

import (
	"errors"
	"testing"
	"time"

	"banyan/internal/job/agent/wire"
)

// An answer of no known type ends the question that it answers, and the trust in its agent.
func TestUnknownAnswer(t *testing.T) {
	r := newRig(t, Options{Lease: time.Hour})
	number, answer := r.remote.expect()
	if err := r.remote.take(wire.Message{Type: "unheard of", Ask: number}); !errors.Is(err, wire.ErrCorrupt) {
		t.Error(err)
	}
	select {
	case m := <-answer:
		if m.Type != wire.Failed || m.Text == "" {
			t.Errorf("%+v", m)
		}
	default:
		t.Error("who has asked waits for ever")
	}
}

// An agent that is told to do what it doesn't know ends, so that nobody waits for its answer.
func TestUnknownCommand(t *testing.T) {
	r := newRig(t, Options{Lease: time.Hour})
	if err := r.remote.say(wire.Message{Type: "unheard of"}); err != nil {
		t.Fatal(err)
	}
	if err := r.end(); !errors.Is(err, wire.ErrCorrupt) {
		t.Error(err)
	}
}
