package plan

import (
	"fmt"
	"slices"

	"banyan/internal/study/planning/resilience"
	"banyan/internal/study/report"
)

// replicationChart draws the efficiency of each degree over the number of nodes, all of which are
// used, and the simulated points. The axis goes from the smallest to the largest given number, or
// over three decades if there is one number.
func replicationChart(job *resilience.Job, sizes []int, degrees []float64, rows []replicationRow) *report.Figure {
	f := &report.Figure{
		Name: "efficiency", Title: fmt.Sprintf("Checkpoints and replication: node MTBF %v, checkpoint %v", job.MTBF, job.Cost),
		X: report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "efficiency", From: 0, To: 1},
	}
	least, most := slices.Min(sizes), slices.Max(sizes)
	if least == most {
		least = max(1, most/1000)
	}
	for i, d := range degrees {
		degree := resilience.Degree(d)
		look := i%report.Looks + 1
		line := report.Series{Name: fmt.Sprintf("degree %v", d), Style: report.Line, Look: look}
		if d == 1 {
			line.Name = "checkpoints alone"
		}
		for _, n := range spaced(most) {
			if n >= max(least, resilience.SameNodes.Least(degree)) {
				line.Points = append(line.Points, report.Point{X: float64(n), Y: job.Outcome(resilience.SameNodes, n, degree).Efficiency})
			}
		}
		found := report.Series{Name: line.Name + ", simulated", Style: report.Points, Look: look}
		for _, r := range rows {
			if r.simulated != nil && r.degree == degree && r.compare == resilience.SameNodes {
				found.Points = append(found.Points, report.Point{X: float64(r.Nodes), Y: float64(job.Work / r.simulated.Time)})
			}
		}
		f.Series = append(f.Series, line)
		if len(found.Points) > 0 {
			f.Series = append(f.Series, found)
		}
	}
	return f
}
