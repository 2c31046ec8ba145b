package correctedtrees

import (
	"fmt"
	"math"
	"strconv"

	"banyan/internal/proto/broadcast"
	"banyan/internal/study/report"
)

// text writes a number into a CSV, with four digits after the point at most.
func text(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
}

// procsAxis is the axis of numbers of processes.
func (e *experiment) procsAxis() report.Axis {
	var ticks []float64
	for i := 0; i < len(e.Sizes); i += 1 + len(e.Sizes)/7 {
		ticks = append(ticks, float64(e.Sizes[i]))
	}
	return report.Axis{Label: "processes P", Log: true, Ticks: ticks}
}

// figure6 shows the messages without faults, with opportunistic correction of a distance.
func (e *experiment) figure6(s *faultFreeStudy, distance int) *report.Figure {
	d := distances[distance]
	f := report.Figure{
		Name: fmt.Sprintf("figure-6-distance-%d", d), Title: fmt.Sprintf("Figure 6: messages without faults, %d neighbours on each side", d),
		Caption: "Messages per process. With checked correction, with acknowledgements and without correction all trees send the same.",
		X:       e.procsAxis(), Y: report.Axis{Label: "messages per process"},
		Data: &report.Table{Columns: []string{"dissemination", "correction", "procs", "messages_per_process"}},
	}
	add := func(name string, look int, style report.Style, dashed bool, dissemination, correction string, messages func(procs int) float64) {
		series := report.Series{Name: name, Look: look, Style: style, Dashed: dashed}
		for _, procs := range s.sizes {
			y := messages(procs) / float64(procs)
			series.Points = append(series.Points, report.Point{X: float64(procs), Y: y})
			f.Data.Rows = append(f.Data.Rows, []string{dissemination, correction, strconv.Itoa(procs), text(y)})
		}
		if name != "" {
			f.Series = append(f.Series, series)
		}
	}
	optimised := optimised(d)
	add("gossip, opportunistic", gossipLook, report.LinePoints, true, "gossip", opportunistic(broadcast.Opportunistic, d).name, func(procs int) float64 { return s.gossip[procs].safe[distance].messages.mean() })
	add("gossip, checked", gossipLook, report.LinePoints, false, "gossip", checked.name, func(procs int) float64 { return s.gossip[procs].messages.mean() })
	for i, t := range trees {
		for _, c := range []correction{checked, optimised, acknowledged, plain} {
			name, look, style, dashed := "", 7, report.LinePoints, false
			switch {
			case c == optimised:
				name, look = t.name+", opportunistic", i+1
			case i > 0:
			case c == checked:
				name = "trees, checked"
			case c == acknowledged:
				name, look, style, dashed = "trees, acknowledged", 6, report.Line, true
			case c == plain:
				name, look, style = "trees, no correction", 6, report.Line
			}
			add(name, look, style, dashed, t.name, c.name, func(procs int) float64 { return float64(s.outcomes[faultFreePoint{i, procs, c.name}].Messages) })
		}
	}
	return &f
}

// latencies is a figure of a latency without faults, over the number of processes.
func (e *experiment) latencies(s *faultFreeStudy, f *report.Figure, of func(faultFreePoint) float64, gossip func(*gossipSize) sample, shown []shownCorrection) *report.Figure {
	f.X = e.procsAxis()
	f.Data = &report.Table{Columns: []string{"dissemination", "correction", "procs", "mean", "p5", "p95"}}
	for _, c := range shown {
		for i, t := range trees {
			series := report.Series{Name: t.name + c.suffix, Look: i + 1, Style: c.style, Dashed: c.dashed}
			for _, procs := range s.sizes {
				y := of(faultFreePoint{i, procs, c.name})
				series.Points = append(series.Points, report.Point{X: float64(procs), Y: y})
				f.Data.Rows = append(f.Data.Rows, []string{t.name, c.name, strconv.Itoa(procs), text(y), text(y), text(y)})
			}
			if !c.hidden && (t.kind != trees[1].kind || !c.without4) {
				f.Series = append(f.Series, series)
			}
		}
	}
	series := report.Series{Name: "gossip, checked", Look: gossipLook, Spread: report.Band}
	for _, procs := range s.sizes {
		x := gossip(s.gossip[procs])
		series.Points = append(series.Points, meanPoint(float64(procs), x, 1))
		f.Data.Rows = append(f.Data.Rows, []string{"gossip", checked.name, strconv.Itoa(procs), text(x.mean()), text(x.quantile(0.05)), text(x.quantile(0.95))})
	}
	f.Series = append(f.Series, series)
	return f
}

// shownCorrection is a correction in a figure.
type shownCorrection struct {
	correction
	suffix           string // after the tree's name in the legend
	style            report.Style
	dashed           bool
	without4, hidden bool // without the k-ary tree; only in the data
}

// meanPoint is the mean with the 5 % and 95 % percentiles, which may lie on one side of it.
func meanPoint(x float64, s sample, unit float64) report.Point {
	mean := s.mean()
	return report.Point{X: x, Y: mean / unit, Low: min(mean, s.quantile(0.05)) / unit, High: max(mean, s.quantile(0.95)) / unit}
}

func (e *experiment) figure7(s *faultFreeStudy) *report.Figure {
	f := report.Figure{
		Name: "figure-7", Title: "Figure 7: quiescence latency without faults",
		Caption: "Solid: acknowledged trees. Dashed: synchronised checked correction. Markers alone: overlapped opportunistic correction, 2 neighbours on each side. The band spans the 5 % and 95 % percentiles. The 4-ary tree, which the paper omits, is in the data.",
		Y:       report.Axis{Label: "quiescence latency (steps)"},
	}
	return e.latencies(s, &f, func(at faultFreePoint) float64 { return float64(s.outcomes[at].Quiescence) },
		func(g *gossipSize) sample { return g.quiescence }, []shownCorrection{
			{correction: acknowledged, suffix: ", acknowledged", style: report.Line, without4: true},
			{correction: checked, suffix: ", checked", style: report.Line, dashed: true, without4: true},
			{correction: optimised(2), suffix: ", opportunistic", style: report.Points, without4: true},
			{correction: optimised(4), hidden: true}, {correction: plain, hidden: true},
		})
}

func (e *experiment) figure14(s *faultFreeStudy) *report.Figure {
	f := report.Figure{
		Name: "figure-14", Title: "Figure 14: coloring latency without faults",
		Caption: "When the last process has the message. Solid: trees; synchronised checked correction and acknowledgements change nothing. Dashed: overlapped opportunistic correction, 2 neighbours on each side.",
		Y:       report.Axis{Label: "coloring latency (steps)"},
	}
	return e.latencies(s, &f, func(at faultFreePoint) float64 { return float64(s.outcomes[at].Coloring) },
		func(g *gossipSize) sample { return g.coloring }, []shownCorrection{
			{correction: checked, suffix: "", style: report.LinePoints},
			{correction: optimised(2), suffix: ", opportunistic", style: report.Line, dashed: true},
			{correction: optimised(4), hidden: true}, {correction: acknowledged, hidden: true}, {correction: plain, hidden: true},
		})
}
