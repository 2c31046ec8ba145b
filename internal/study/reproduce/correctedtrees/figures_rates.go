package correctedtrees

import (
	"fmt"
	"strconv"

	"banyan/internal/study/report"
)

var rateAxis = report.Axis{Label: "dead processes (% of P)", Log: true, Ticks: rates}

// overRates is a figure of something over the fault rate: of what all trees do under checked and
// opportunistic correction, and gossip under checked correction.
func (e *experiment) overRates(s *studies, f *report.Figure, unit float64, ofChecked func(*faultPoint) sample, ofOpportunistic func(*opportunisticPoint) sample, ofGossip func(*gossipFaults) sample) *report.Figure {
	f.X = rateAxis
	f.Data = &report.Table{Columns: []string{"dissemination", "correction", "fault_rate_percent", "dead", "broadcasts", "mean", "mean_low", "mean_high", "deviation", "p5", "median", "p95"}}
	row := func(dissemination, correction string, rate float64, x sample) {
		mean, half := x.mean()/unit, x.meanInterval()/unit
		f.Data.Rows = append(f.Data.Rows, []string{dissemination, correction, text(rate), strconv.Itoa(deadAt(rate, e.Procs)), strconv.Itoa(x.size()), text(mean), text(mean - half), text(mean + half),
			text(x.deviation() / unit), text(x.quantile(0.05) / unit), text(x.quantile(0.5) / unit), text(x.quantile(0.95) / unit)})
	}
	for i, t := range trees {
		series := report.Series{Name: t.name + ", checked", Look: i + 1, Spread: report.Whiskers}
		for _, rate := range rates {
			x := ofChecked(s.faults.at(i, rate))
			series.Points = append(series.Points, meanPoint(rate, x, unit))
			row(t.name, checked.name, rate, x)
		}
		f.Series = append(f.Series, series)
	}
	for d, distance := range distances {
		for i, t := range trees {
			series := report.Series{Name: t.name + ", opportunistic", Look: i + 1, Style: report.Line, Dashed: true}
			for _, rate := range rates {
				x := ofOpportunistic(s.opportunistic.at(d, i, rate, e.Procs))
				series.Points = append(series.Points, report.Point{X: rate, Y: x.mean() / unit})
				row(t.name, optimised(distance).name, rate, x)
			}
			if d == 0 {
				f.Series = append(f.Series, series)
			}
		}
	}
	series := report.Series{Name: "gossip, checked", Look: gossipLook, Spread: report.Whiskers}
	for _, rate := range rates {
		x := ofGossip(s.gossip.at(rate, e.Procs))
		series.Points = append(series.Points, meanPoint(rate, x, unit))
		row("gossip", checked.name, rate, x)
	}
	f.Series = append(f.Series, series)
	for _, rate := range rates {
		g := s.gossip.adapted[rate]
		row(fmt.Sprintf("gossip for %d steps", g.time), checked.name, rate, ofGossip(g))
	}
	return f
}

// opportunisticRates is a figure of the trees with opportunistic correction of all distances.
func (e *experiment) opportunisticRates(s *studies, f *report.Figure, unit float64, of func(*opportunisticPoint) sample) *report.Figure {
	f.X = rateAxis
	f.Data = &report.Table{Columns: []string{"dissemination", "correction", "fault_rate_percent", "dead", "broadcasts", "mean", "p5", "median", "p95"}}
	for d, distance := range distances {
		for i, t := range trees {
			series := report.Series{Name: fmt.Sprintf("%s, distance %d", t.name, distance), Look: i + 1, Dashed: d > 0, Spread: report.Whiskers}
			for _, rate := range rates {
				x := of(s.opportunistic.at(d, i, rate, e.Procs))
				series.Points = append(series.Points, meanPoint(rate, x, unit))
				f.Data.Rows = append(f.Data.Rows, []string{t.name, optimised(distance).name, text(rate), strconv.Itoa(deadAt(rate, e.Procs)), strconv.Itoa(x.size()),
					text(x.mean() / unit), text(x.quantile(0.05) / unit), text(x.quantile(0.5) / unit), text(x.quantile(0.95) / unit)})
			}
			f.Series = append(f.Series, series)
		}
	}
	return f
}

func (e *experiment) figure8Opportunistic(s *studies) *report.Figure {
	f := report.Figure{
		Name: "figure-8-opportunistic", Title: "Figure 8: the same with opportunistic correction",
		Caption: "Optimised overlapped opportunistic correction, solid with 2 neighbours on each side, dashed with 4. Means; whiskers span the 5 % and 95 % percentiles.",
		Y:       report.Axis{Label: "mean quiescence latency (steps)"},
	}
	return e.opportunisticRates(s, &f, 1, func(p *opportunisticPoint) sample { return p.quiescence })
}

func (e *experiment) figure9Opportunistic(s *studies) *report.Figure {
	f := report.Figure{
		Name: "figure-9-opportunistic", Title: "Figure 9: the same with opportunistic correction",
		Caption: "Optimised overlapped opportunistic correction, solid with 2 neighbours on each side, dashed with 4. All messages by the number of all processes: means; whiskers span the 5 % and 95 % percentiles.",
		Y:       report.Axis{Label: "mean messages per process"},
	}
	return e.opportunisticRates(s, &f, float64(e.Procs), func(p *opportunisticPoint) sample { return p.messages })
}

func (e *experiment) figure8(s *studies) *report.Figure {
	f := report.Figure{
		Name: "figure-8", Title: "Figure 8: quiescence latency with faults",
		Caption: "Means; whiskers span the 5 % and 95 % percentiles. Dashed: optimised overlapped opportunistic correction, 2 neighbours on each side; 4 are in the data.",
		Y:       report.Axis{Label: "mean quiescence latency (steps)"},
	}
	return e.overRates(s, &f, 1, func(p *faultPoint) sample { return p.quiescence },
		func(p *opportunisticPoint) sample { return p.quiescence }, func(p *gossipFaults) sample { return p.quiescence })
}

func (e *experiment) figure9(s *studies) *report.Figure {
	f := report.Figure{
		Name: "figure-9", Title: "Figure 9: messages with faults",
		Caption: "All messages by the number of all processes: means; whiskers span the 5 % and 95 % percentiles. Dashed: optimised overlapped opportunistic correction, 2 neighbours on each side; 4 are in the data.",
		Y:       report.Axis{Label: "mean messages per process"},
	}
	return e.overRates(s, &f, float64(e.Procs), func(p *faultPoint) sample { return p.messages },
		func(p *opportunisticPoint) sample { return p.messages }, func(p *gossipFaults) sample { return p.messages })
}
