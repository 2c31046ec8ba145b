package qos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/study/report"
)

// Curves makes a page of rows: a figure for each scenario, detection time against mistakes, with
// a curve for each system. A curve that is lower and further left is better. The command is what
// makes the rows again.
func Curves(rows []Row, command string) *report.Report {
	r := &report.Report{
		Title:   "Failure detectors compared",
		Source:  "Metrics of Chen, Toueg and Aguilera, On the Quality of Service of Failure Detectors, IEEE Trans. Computers 51(5), 2002",
		Command: command,
		About: []string{
			"Each point is one detector with one time-out, simulated; a curve is one detector with several. All send as many messages for each node and second.",
			"Across: the mean time in heartbeat periods η from a death until every live node knows. Up: how often a live node is declared dead, for one node and η, with 95 % confidence intervals. Where no mistake was seen, a marker off the curve shows the upper end of the interval.",
		},
	}
	for begin := 0; begin < len(rows); {
		end := begin + 1
		for end < len(rows) && rows[end].Scenario == rows[begin].Scenario {
			end++
		}
		if f := curves(rows[begin:end], len(r.Sections)+1); f != nil {
			r.Sections = append(r.Sections, report.Section{Title: f.Title, Figures: []*report.Figure{f}})
		}
		begin = end
	}
	return r
}

// curves is the figure of one scenario, or nil if there is nothing to draw.
func curves(rows []Row, number int) *report.Figure {
	f := &report.Figure{
		Name: fmt.Sprintf("curves-%d", number), Title: rows[0].Scenario.String(),
		X: report.Axis{Label: "until all know [η]"},
		Y: report.Axis{Label: "mistakes for each node and η", Log: true},
	}
	type key struct {
		system    System
		mediators int
	}
	var order []key
	seen, none := map[key][]report.Point{}, map[key][]report.Point{}
	for i := range rows {
		row := &rows[i]
		if row.All.Count == 0 || row.Mistakes.High <= 0 {
			continue
		}
		k := key{row.Subject.System, row.Subject.Mediators}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		if row.Mistakes.Events == 0 {
			none[k] = append(none[k], report.Point{X: row.All.Mean, Y: row.Mistakes.High})
		} else {
			// The lower end may be 0, which a logarithmic axis can't show.
			low := max(row.Mistakes.Low, row.Mistakes.Rate/100)
			seen[k] = append(seen[k], report.Point{X: row.All.Mean, Y: row.Mistakes.Rate, Low: low, High: row.Mistakes.High})
		}
	}
	if len(order) == 0 {
		return nil
	}
	for i, k := range order {
		name := k.system.String()
		if !k.system.isRing() {
			name = fmt.Sprintf("%v, %d mediators", k.system, k.mediators)
		}
		look := i%report.Looks + 1
		if points := seen[k]; len(points) > 0 {
			slices.SortStableFunc(points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
			f.Series = append(f.Series, report.Series{Name: name, Spread: report.Whiskers, Look: look, Points: points})
			name = ""
		}
		if points := none[k]; len(points) > 0 {
			f.Series = append(f.Series, report.Series{Name: name, Style: report.Points, Look: look, Points: points})
		}
	}
	return f
}

// String names the conditions.
func (s Scenario) String() string {
	parts := []string{fmt.Sprintf("%d nodes", s.Nodes)}
	if s.Loss > 0 {
		parts = append(parts, fmt.Sprintf("%.3g %% of messages lost", 100*s.Loss))
	}
	if s.Stall > 0 {
		parts = append(parts, fmt.Sprintf("stalls of %v every %v", time.Duration(s.Stall), time.Duration(s.StallEvery)))
	}
	if s.Cut > 0 {
		part := fmt.Sprintf("%.3g %% of links cut", 100*s.Cut)
		if s.CutFor > 0 {
			part += fmt.Sprintf(" for %v each", time.Duration(s.CutFor))
		}
		parts = append(parts, part)
	}
	if s.Deaths > 1 {
		parts = append(parts, fmt.Sprintf("%d neighbours die", s.Deaths))
	}
	return strings.Join(parts, ", ")
}
