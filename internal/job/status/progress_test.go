package status

import (
	"math"
	"testing"

	"banyan/internal/proto"
)

// The rank that has come least far counts, by what it expects; the time left is that of the pace of
// the last minute, and none is told where nothing tells it.
func TestProgress(t *testing.T) {
	tr := NewTracker(Job{Ranks: 2, Replicas: 2})
	o := &Observation{Hosts: []Host{{Name: "a"}}}
	for p := range 4 {
		o.Slots = append(o.Slots, Slot{Rank: p % 2, Replica: p / 2, State: Live})
	}
	tr.Observe(o)
	stamp := uint64(0)
	at := func(s float64, counts ...Counters) Totals {
		stamp++
		var all []Sample
		for p, c := range counts {
			all = append(all, Sample{Process: p, Stamp: stamp, Counters: c})
		}
		tr.Sample(proto.Time(s*1e9), all)
		return tr.State().Totals
	}
	c := func(passed, expected uint64) Counters { return Counters{Safepoints: passed, Expected: expected} }
	if x := at(1, c(10, 0), c(7, 0), c(10, 0), c(7, 0)); x.Safepoints != 7 || x.Expected != 0 || x.Left != 0 {
		t.Errorf("nothing is expected: %+v", x)
	}
	// Rank 1 has passed more, but a smaller part.
	if x := at(2, c(10, 100), c(30, 1000), c(10, 100), c(30, 1000)); x.Safepoints != 30 || x.Expected != 1000 || x.Left != 0 {
		t.Errorf("the first time: %+v", x)
	}
	if x := at(12, c(20, 100), c(130, 1000), c(20, 100), c(130, 1000)); x.Safepoints != 130 || math.Abs(x.Left-87) > 1e-6 {
		t.Errorf("10 of 100 points in 10 s, 870 of 1000 left: %+v", x)
	}
	// A replica that was replaced counts behind the other one: that changes nothing.
	if x := at(22, c(30, 100), c(0, 0), c(30, 100), c(230, 1000)); x.Safepoints != 230 || math.Abs(x.Left-77) > 1e-6 {
		t.Errorf("with a replacement: %+v", x)
	}
	// It turns slow: after a minute the old pace is forgotten.
	for s := 23; s <= 120; s++ {
		n := uint64(230 + (s-22)*1)
		at(float64(s), c(90, 100), c(n, 1000), c(90, 100), c(n, 1000))
	}
	if x := tr.State().Totals; x.Safepoints != 328 || math.Abs(x.Left-672) > 20 {
		t.Errorf("at one point a second: %+v", x)
	}
	if n := len(tr.pace.all); n > paceMost+2 {
		t.Errorf("%d points are kept", n)
	}
	// Taken back to a snapshot: the pace begins anew.
	if x := at(121, c(50, 100), c(300, 1000), c(50, 100), c(300, 1000)); x.Safepoints != 300 || x.Left != 0 {
		t.Errorf("taken back: %+v", x)
	}
	if x := at(131, c(100, 100), c(1000, 1000), c(100, 100), c(1000, 1000)); x.Safepoints != x.Expected || x.Left != 0 {
		t.Errorf("at the end: %+v", x)
	}
	// What passes more than it said doesn't go beyond the end.
	if x := at(141, c(100, 100), c(2000, 1000), c(100, 100), c(2000, 1000)); x.Left < 0 {
		t.Errorf("beyond the end: %+v", x)
	}
}
