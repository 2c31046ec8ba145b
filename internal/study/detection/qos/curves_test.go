package qos

import (
	"testing"

	"banyan/internal/study/report"
)

// Each system has one curve in each scenario's figure, from left to right, and markers where it
// made no mistake. A curve without points is left out.
func TestCurves(t *testing.T) {
	row := func(loss float64, s System, all float64, events int) Row {
		r := Row{Scenario: calm(), Subject: Subject{System: s}, All: Sample{Count: 5, Mean: all}}
		r.Scenario.Loss = loss
		r.Mistakes = Rate{Events: events, Rate: float64(events) / 100, High: float64(events+3) / 100}
		return r
	}
	empty := row(0.1, Ring, 1, 0)
	empty.All.Count = 0
	r := Curves([]Row{
		row(0, Ring, 3, 1), row(0, Ring, 2, 5), row(0, Ring, 4, 0), row(0, Swim, 9, 0),
		row(0.05, Ring, 2, 5),
		empty,
	}, "banyan sim quality")
	if len(r.Sections) != 2 {
		t.Fatalf("%d sections", len(r.Sections))
	}
	first := r.Sections[0].Figures[0]
	if len(first.Series) != 3 {
		t.Fatalf("series %+v", first.Series)
	}
	ring, none, swim := first.Series[0], first.Series[1], first.Series[2]
	if len(ring.Points) != 2 || ring.Points[0].X != 2 || ring.Points[0].Low <= 0 {
		t.Errorf("ring: %+v", ring)
	}
	if none.Name != "" || none.Look != ring.Look || none.Style != report.Points || none.Points[0].Y != 0.03 {
		t.Errorf("ring without mistakes: %+v", none)
	}
	if swim.Name == "" || swim.Look == ring.Look {
		t.Errorf("swim: %+v", swim)
	}
	if got := r.Sections[1].Title; got != "32 nodes, 5 % of messages lost" {
		t.Errorf("title %q", got)
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}
