// Package chart draws what is planned: curves of the models of package planning, and what was
// simulated or measured beside them.
package chart

import (
	"fmt"
	"math"
	"slices"

	"banyan/internal/study/planning/resilience"
	"banyan/internal/study/report"
)

// Efficiency draws the efficiency of each degree over the number of nodes, all of which are used,
// and the simulated cases. The axis goes from the smallest to the largest given number, or over
// three decades if there is one number.
func Efficiency(job *resilience.Job, sizes []int, degrees []float64, cases []resilience.Case) *report.Figure {
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
		for _, n := range Spaced(most) {
			if n >= max(least, resilience.SameNodes.Least(degree)) {
				line.Points = append(line.Points, report.Point{X: float64(n), Y: job.Outcome(resilience.SameNodes, n, degree).Efficiency})
			}
		}
		found := report.Series{Name: line.Name + ", simulated", Style: report.Points, Look: look}
		for _, c := range cases {
			if c.Simulated != nil && c.Degree == degree && c.Compare == resilience.SameNodes {
				found.Points = append(found.Points, report.Point{X: float64(c.Nodes), Y: float64(job.Work / c.Simulated.Time)})
			}
		}
		f.Series = append(f.Series, line)
		if len(found.Points) > 0 {
			f.Series = append(f.Series, found)
		}
	}
	return f
}

// points is about how many a curve has.
const points = 300

// Spaced returns numbers from 1 to most, evenly spaced on a logarithmic axis.
func Spaced(most int) []int {
	list := []int{1}
	for i := 1; i <= points; i++ {
		n := int(math.Round(math.Pow(float64(most), float64(i)/points)))
		if n > list[len(list)-1] {
			list = append(list, min(n, most))
		}
	}
	return list
}
