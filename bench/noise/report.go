package noise

import (
	"fmt"
	"math"
	"time"

	"banyan/bench/peers"
	"banyan/internal/study/report"
)

// enoughRounds is how many rounds the claims need.
const enoughRounds = 6

// Report is figure 8 of the paper. perPeriod are the instructions of a heartbeat's period, 0 if
// they couldn't be counted.
func Report(command string, settings []report.Setting, p *Plan, rows []Row, perPeriod float64) *report.Report {
	section := report.Section{Title: "Figure 8, measured", Tables: []*report.Table{resultTable(rows, perPeriod)}}
	for _, f := range []*report.Figure{ratioFigure(rows), instructionFigure(rows, perPeriod)} {
		if len(f.Series) > 0 {
			section.Figures = append(section.Figures, f)
		}
	}
	return &report.Report{
		Title: "What heartbeats cost an application, measured", Command: command,
		Source: "Bosilca, Bouteiller, Guermouche, Hérault, Robert, Sens, Dongarra: A Failure Detector for HPC Platforms. INRIA Research Report RR-9024, 2017.",
		About: []string{
			fmt.Sprintf("Jobs of two ranks, those of all-reductions and the solver of %d, with δ = %d η. A ratio is that of an operation's time to its time at the longest η in the same round; the order of the jobs is turned round from round to round.", p.Ranks, p.Ratio),
			"Instructions are those of the library and the Go runtime that heartbeats add to one operation: those of a period, counted by stepping a process, times the operation's time in periods. The machine's load doesn't change those of a period.",
		},
		Settings: append(settings, report.Setting{Name: "instructions of a period", Value: instructions(perPeriod)}, report.Setting{Name: "rounds", Value: fmt.Sprint(p.Rounds)}),
		Claims:   claims(p, rows), Sections: []report.Section{section},
	}
}

func instructions(n float64) string {
	if n == 0 {
		return "not counted"
	}
	return report.Number(math.Round(n))
}

// series makes one series of each kind, of the rows for which it has a point.
func series(rows []Row, spread report.Spread, point func(*Row) (report.Point, bool)) (list []report.Series) {
	for _, k := range Kinds {
		s := report.Series{Name: string(k), Spread: spread}
		for i := range rows {
			if rows[i].Kind == k {
				if at, ok := point(&rows[i]); ok {
					s.Points = append(s.Points, at)
				}
			}
		}
		if len(s.Points) > 0 {
			list = append(list, s)
		}
	}
	return list
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratioFigure(rows []Row) *report.Figure {
	return &report.Figure{
		Name: "figure-8", Title: "Figure 8: the time of an operation over η", Caption: "Medians of the ratios to the longest η in the same round, with quartiles.",
		X: report.Axis{Label: "η (ms)", Log: true}, Y: report.Axis{Label: "time, to that at the longest η"},
		Series: series(rows, report.Whiskers, func(r *Row) (report.Point, bool) {
			return report.Point{X: inMilliseconds(r.Period), Y: r.Ratio.Median, Low: r.Ratio.Low, High: r.Ratio.High}, !math.IsNaN(r.Ratio.Median)
		}),
	}
}

func instructionFigure(rows []Row, perPeriod float64) *report.Figure {
	f := &report.Figure{
		Name: "figure-8-instructions", Title: "Instructions that heartbeats add to an operation",
		X: report.Axis{Label: "η (ms)", Log: true}, Y: report.Axis{Label: "instructions", Log: true},
	}
	if perPeriod > 0 {
		f.Series = series(rows, report.NoSpread, func(r *Row) (report.Point, bool) {
			n := r.Instructions(perPeriod)
			return report.Point{X: inMilliseconds(r.Period), Y: n}, n > 0
		})
	}
	return f
}

// value is an operation's time or bandwidth, with its unit.
func (r *Row) value(ns float64) (value float64, unit string) {
	switch r.Kind {
	case Bandwidth:
		return float64(r.Kind.bytes()) / ns * 1e3, "MB/s"
	case Solver:
		return ns / 1e9, "s"
	}
	return ns / 1e3, "µs"
}

// Value is the median of what a kind measures, and Unit its unit.
func (r *Row) Value() float64 { v, _ := r.value(r.Nanoseconds.Median); return v }

// Unit is that of Value.
func (r *Row) Unit() string { _, unit := r.value(1); return unit }

func resultTable(rows []Row, perPeriod float64) *report.Table {
	t := &report.Table{
		Name: "noise", Title: "Figure 8 in numbers", Caption: "medians of the rounds, ratios with quartiles",
		Columns: []string{"what", "η (ms)", "value", "unit", "time to that at the longest η", "quartiles", "CPU (s)", "heartbeats' instructions", "failed jobs", "why"},
	}
	text := func(v float64, format string) string {
		if math.IsNaN(v) {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	for i := range rows {
		r := &rows[i]
		added := ""
		if n := r.Instructions(perPeriod); perPeriod > 0 && !math.IsNaN(n) {
			added = fmt.Sprintf("%.3g", n)
		}
		quartiles := ""
		if !math.IsNaN(r.Ratio.Low) {
			quartiles = fmt.Sprintf("%.3f–%.3f", r.Ratio.Low, r.Ratio.High)
		}
		t.Rows = append(t.Rows, []string{
			string(r.Kind), fmt.Sprintf("%g", inMilliseconds(r.Period)), text(r.Value(), "%.4g"), r.Unit(), text(r.Ratio.Median, "%.3f"), quartiles,
			text(r.CPU.Median, "%.3g"), added, fmt.Sprint(r.Failed), r.Why,
		})
	}
	return t
}

// claims sets section 5.3 of the paper beside what was measured.
func claims(p *Plan, rows []Row) []report.Claim {
	const where = "section 5.3, figure 8"
	var all []report.Claim
	add := func(what, paper, ours string, agree bool, why string) {
		c := report.Claim{Where: where, What: what, Paper: paper, Ours: ours, Explanation: why, Verdict: report.Differs}
		if agree {
			c.Verdict = report.Agrees
		}
		if p.Rounds < enoughRounds {
			c.Verdict, c.Explanation = report.Open, fmt.Sprintf("Fewer than %d rounds. ", enoughRounds)+why
		}
		all = append(all, c)
	}
	longest := p.Periods[len(p.Periods)-1]
	// worst is the largest ratio of kinds at periods in a range.
	worst := func(from, to time.Duration, kinds ...Kind) (w float64, spread peers.Spread, at time.Duration) {
		for i := range rows {
			r := &rows[i]
			for _, k := range kinds {
				if r.Kind == k && r.Period >= from && r.Period <= to && r.Period < longest && r.Ratio.Median > w {
					w, spread, at = r.Ratio.Median, r.Ratio, r.Period
				}
			}
		}
		return w, spread, at
	}
	text := func(w float64, s peers.Spread, at time.Duration) string {
		return fmt.Sprintf("%+.1f %% at η = %v (quartiles %+.1f to %+.1f %%)", 100*(w-1), at, 100*(s.Low-1), 100*(s.High-1))
	}
	const ever = time.Hour
	const noise = "The quartiles show how far the rounds of one setting are apart: a difference within them is the machine's."
	if w, s, at := worst(100*time.Millisecond, ever, Latency, Bandwidth, Allreduce); w > 0 {
		add("messages are barely affected by rare heartbeats, η ≥ 100 ms", "barely", text(w, s, at), w < 1.03, noise)
	}
	if w, s, at := worst(0, ever, Latency, Bandwidth, Allreduce); w > 0 {
		add("messages with frequent heartbeats", "approximately 10 % at most", text(w, s, at), w < 1.12, noise)
	}
	lw, _, _ := worst(0, ever, Latency)
	bw, bs, at := worst(0, ever, Bandwidth)
	if lw > 0 && bw > 0 {
		add("bandwidth is less impacted than latency", "less; unchanged for all but the most extreme η", fmt.Sprintf("%s; latency %+.1f %%", text(bw, bs, at), 100*(lw-1)), bw <= lw+0.02, noise)
	}
	if w, s, at := worst(100*time.Millisecond, ever, Solver); w > 0 {
		add("a solver shows no degradation for η ≥ 100 ms", "none", text(w, s, at), w < 1.02, noise)
	}
	if w, s, at := worst(0, ever, Solver); w > 0 {
		add("nor much for more frequent heartbeats", "under 2 %", text(w, s, at), w < 1.03, noise)
	}
	jobs, failed, early := 0, 0, 0
	why := ""
	for i := range rows {
		r := &rows[i]
		jobs += r.Rounds + r.Failed
		failed += r.Failed
		if r.Period >= 10*time.Millisecond {
			early += r.Failed
		}
		if why == "" && r.Failed > 0 {
			why = fmt.Sprintf("The first failure, %s at η = %v: %s.", r.Kind, r.Period, r.Why)
		}
	}
	add("no process is taken for dead wrongly for η ≥ 10 ms", "none; from 2.5 ms on with point-to-point messages only",
		fmt.Sprintf("%d jobs failed with η ≥ 10 ms, %d with a smaller one, of %d", early, failed-early, jobs), early == 0, "Failed jobs are those of the table. "+why)
	return all
}
