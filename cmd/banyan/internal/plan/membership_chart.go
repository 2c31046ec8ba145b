package plan

import (
	"fmt"
	"slices"

	"banyan/internal/study/chart"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
)

// viewChart draws the stabilisation time over the number of nodes, up to the largest of those
// given: a curve for each arity, the base model where that differs, and the measurements.
func viewChart(m *viewtime.Model, nodes, arities []int, measured []viewtime.Measurement, command string) *report.Report {
	f := &report.Figure{
		Name: "stabilisation", Title: "Stabilisation time of a view",
		X: report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "stabilisation time [µs]"},
	}
	sizes := chart.Spaced(slices.Max(nodes))
	for i, arity := range arities {
		look := i%report.Looks + 1
		name := fmt.Sprintf("%d children", arity)
		model, base := report.Series{Name: name, Style: report.Line, Look: look}, report.Series{Style: report.Line, Dashed: true, Look: look}
		refined := false
		for _, n := range sizes {
			t, b := m.Stabilise(n, arity), m.Base(n, arity)
			refined = refined || t != b
			model.Points = append(model.Points, report.Point{X: float64(n), Y: float64(t) * 1e6})
			base.Points = append(base.Points, report.Point{X: float64(n), Y: float64(b) * 1e6})
		}
		f.Series = append(f.Series, model)
		if base.Name = name + ", base model"; refined {
			f.Series = append(f.Series, base)
		}
		found := report.Series{Name: name + ", measured", Style: report.Points, Look: look}
		for _, p := range measured {
			if p.Arity == arity {
				found.Points = append(found.Points, report.Point{X: float64(p.Nodes), Y: float64(p.Time) * 1e6})
			}
		}
		if len(found.Points) > 0 {
			f.Series = append(f.Series, found)
		}
	}
	return &report.Report{
		Title:    f.Title,
		Source:   "Models of Varma et al., Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems, ICS 2006",
		Command:  command,
		Settings: viewSettings(m),
		Sections: []report.Section{{Title: f.Title, Figures: []*report.Figure{f}}},
	}
}

func viewSettings(m *viewtime.Model) []report.Setting {
	contention := fmt.Sprintf("c = %.4g", m.Contention)
	if m.Contended != nil {
		contention = fmt.Sprintf("L measured with %v children", m.Contended.Children())
	}
	return []report.Setting{
		{Name: "latency L", Value: m.Latency.String()},
		{Name: "computation Ocp", Value: m.Compute.String()},
		{Name: "overhead o", Value: m.Overhead.String()},
		{Name: "topology", Value: m.Topology.String()},
		{Name: "contention", Value: contention},
	}
}
