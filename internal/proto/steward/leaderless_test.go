package steward

import (
	"testing"

	"banyan/internal/proto"
)

// The witness names a content that only the dead have. The host that is left has a lease and can't
// lead: it ends.
func TestLeaderless(t *testing.T) {
	w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, 1)
	w.strike(fault{kind: kill, host: 0, at: 5 * sec})
	w.until(t, 4*sec)
	x := &w.nodes[2].witness.voter.accepted
	x.at.Number, x.id = x.at.Number+1000, Version{Term: 1, Number: 1000}
	cfg := Defaults(proto.Time(sec))
	w.until(t, 5*sec+2*cfg.GiveUp-sec)
	a := w.nodes[1].agent
	if !a.Held() || a.Leads() || a.Outcome().Reason != NotOver {
		t.Fatalf("%v, a lease: %v, %v", a, a.Held(), a.Outcome())
	}
	w.until(t, 5*sec+2*cfg.GiveUp+cfg.Lease)
	if a.Outcome().Reason != NoMajority {
		t.Errorf("it waits for ever: %v", a.Outcome())
	}
}
