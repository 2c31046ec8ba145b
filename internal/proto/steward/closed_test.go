package steward

import (
	"testing"

	"banyan/internal/proto"
)

// A hint that the steward is gone makes a voter ask once. Its questions to the steward are refused,
// which is the same hint again: it asks no more for that.
func TestClosedIsNoStorm(t *testing.T) {
	first := NewLedger([]HostEntry{{Host: 0}, {Host: 1}, {Host: 2}}, nil, NoHost, false, MaxVoters)
	cfg := Defaults(1_000_000)
	cfg.Self = 1
	a := New(0, cfg, first)
	var out []Action
	a.Open(0, &out)
	asked := 0
	for i := range 100 {
		out = nil
		a.Closed(proto.Time(1000+10*i), 0, &out)
		for _, x := range out {
			if x.Kind == Send && x.Message.Kind == Renew {
				asked++
			}
		}
	}
	if asked != 2 { // both other voters, once
		t.Errorf("%d questions", asked)
	}
}
