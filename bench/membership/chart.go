package membership

import (
	"fmt"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/report"
)

// Chart draws the measured stabilisation times of summaries over the number of members that
// agree: medians with the least and the most, and for the deaths of single members the models
// beside them.
func Chart(all []*Summary) *report.Figure {
	f := &report.Figure{
		Name: "membership", Title: "Stabilisation time of real members on one machine",
		X: report.Axis{Label: "members that agree", Log: true}, Y: report.Axis{Label: "stabilisation time (µs)", Log: true},
	}
	type curve struct {
		arity int
		fault Fault
	}
	series := map[curve][3]int{} // indices in f.Series of the measured times, contention and base
	add := func(at int, s *Summary, y, low, high risk.Seconds) {
		const us = 1e6
		f.Series[at].Points = append(f.Series[at].Points, report.Point{X: float64(s.Agree()), Y: float64(y) * us, Low: float64(low) * us, High: float64(high) * us})
	}
	for _, s := range all {
		if s.Least <= 0 { // a member that is alone; a logarithmic axis can't show it
			continue
		}
		c := curve{s.Arity, s.Fault}
		at, ok := series[c]
		if !ok {
			name, look, first := fmt.Sprintf("%v, %d children", s.Fault, s.Arity), len(series)%report.Looks+1, len(f.Series)
			f.Series = append(f.Series, report.Series{Name: name, Style: report.Points, Spread: report.Whiskers, Look: look})
			if s.Fault.Kind == Node {
				f.Series = append(f.Series,
					report.Series{Name: "contention model", Style: report.Line, Look: look},
					report.Series{Name: "base model", Style: report.Line, Dashed: true, Look: look})
			}
			at = [3]int{first, first + 1, first + 2}
			series[c] = at
		}
		add(at[0], s, s.Stabilise, s.Least, s.Most)
		if s.Fault.Kind == Node {
			add(at[1], s, s.Contention, 0, 0)
			add(at[2], s, s.Base, 0, 0)
		}
	}
	return f
}
