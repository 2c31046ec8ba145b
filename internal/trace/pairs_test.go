package trace

import (
	"testing"

	"banyan/internal/proto"
)

// A message that seems to come before it was sent, by another clock, has no pair; those after it
// have theirs.
func TestPairs(t *testing.T) {
	var p Pairs
	send := func(at proto.Time) Sent { return p.Send(Event{Time: at, Proc: 0, Event: Send, Peer: 1, Kind: "eager"}) }
	end := func() (Sent, bool) { return p.End(Event{Proc: 1, Event: Receive, Peer: 0, Kind: "eager"}) }
	if s, ok := end(); ok {
		t.Errorf("the first is paired with %+v", s)
	}
	send(1)
	second, third := send(2), send(3)
	p.Send(Event{Proc: 0, Event: Send, Peer: 1, Kind: "tree"})
	for _, want := range []Sent{second, third} {
		if got, ok := end(); !ok || got != want {
			t.Errorf("%+v, %v, want %+v", got, ok, want)
		}
	}
	if s, ok := end(); ok {
		t.Errorf("the last is paired with %+v", s)
	}
}
