package detection

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"banyan/internal/study/report"
)

// source is the paper whose experiments are repeated.
const source = "Bosilca, Bouteiller, Guermouche, Hérault, Robert, Sens, Dongarra: A Failure Detector for HPC Platforms. INRIA Research Report RR-9024, 2017."

// Machine says where it was measured.
func Machine() report.Setting {
	name := "unknown"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return report.Setting{Name: "machine", Value: fmt.Sprintf("%d processors: %s", runtime.NumCPU(), name)}
}

// StrikeReport is the report of what happens when members are struck: figure 10 of the paper, left
// and centre.
func StrikeReport(command string, all []*Summary) *report.Report {
	r := &report.Report{
		Title: "Detection and stabilisation, measured", Source: source, Command: command,
		About: []string{
			"Members are processes of one machine. Times are from the first victim's fault until all live members know of all victims (stabilisation), and from the first detection of a victim until all know of it (spread), medians.",
		},
		Settings: []report.Setting{Machine()},
	}
	last := figureOver("stabilisation", "Figure 10, left: until all members know of all victims", "time (ms)", all, func(s *Summary) Estimate { return s.Last })
	spread := figureOver("spread", "Figure 10, centre: from the first detection of a victim until all know of it", "time (ms)", all, func(s *Summary) Estimate { return s.Spread })
	section := report.Section{Title: "Figure 10, measured", Tables: []*report.Table{strikeTable(all)}}
	for _, f := range []*report.Figure{last, spread} {
		if hasPoints(f) {
			section.Figures = append(section.Figures, f)
		}
	}
	r.Sections = []report.Section{section}
	r.Claims = strikeClaims(all)
	return r
}

// series is what makes one line of a figure.
type series struct {
	system          System
	struck          string
	period, timeout float64
	fault           Fault
}

// figureOver draws an estimate over the number of members.
func figureOver(name, title, unit string, all []*Summary, of func(*Summary) Estimate) *report.Figure {
	f := &report.Figure{
		Name: name, Title: title, Caption: "Medians with 95 % intervals, where there are enough runs.",
		X: report.Axis{Label: "members", Log: true}, Y: report.Axis{Label: unit, Log: true},
	}
	at := map[series]int{}
	for _, s := range all {
		e := of(s)
		if !(e.Value > 0) || math.IsInf(e.Value, 0) {
			continue
		}
		key := series{s.System, s.struck(), ms(s.Period), ms(s.Timeout), s.Fault}
		i, ok := at[key]
		if !ok {
			i = len(f.Series)
			at[key] = i
			f.Series = append(f.Series, report.Series{Name: fmt.Sprintf("%s, %s: %s", s.System, s.Fault, s.struck()), Spread: report.Whiskers})
		}
		f.Series[i].Points = append(f.Series[i].Points, drawn(float64(s.N), e))
	}
	return f
}

// drawn is an estimate as a point. Where it has no interval, or one that a logarithmic axis can't
// show, the point alone is drawn.
func drawn(x float64, e Estimate) report.Point {
	p := report.Point{X: x, Y: e.Value, Low: e.Value, High: e.Value}
	if e.Low > 0 && e.Low <= e.Value {
		p.Low = e.Low
	}
	if e.High >= e.Value && !math.IsInf(e.High, 0) {
		p.High = e.High
	}
	return p
}

func hasPoints(f *report.Figure) bool {
	for _, s := range f.Series {
		if len(s.Points) > 0 {
			return true
		}
	}
	return false
}

func strikeTable(all []*Summary) *report.Table {
	t := &report.Table{
		Name: "strikes", Title: "Detection and stabilisation in numbers", Caption: "medians in milliseconds, with 95 % intervals",
		Columns: []string{"system", "members", "η", "δ", "fault", "victims", "runs", "first", "spread", "all know all", "interval", "theorem 1", "false suspicions"},
	}
	for _, s := range all {
		bound := ""
		if s.System.isBanyan() && s.Fault != None {
			bound = fmt.Sprintf("%g", ms(s.bound()))
		}
		t.Rows = append(t.Rows, []string{
			string(s.System), fmt.Sprint(s.N), fmt.Sprintf("%g", ms(s.Period)), fmt.Sprintf("%g", ms(s.Timeout)), string(s.Fault), s.struck(), fmt.Sprint(s.Runs),
			number(s.First.Value, "%.1f"), number(s.Spread.Value, "%.2f"), number(s.Last.Value, "%.1f"), interval(s.Last, "%.1f"), bound, fmt.Sprint(s.FalseSuspicions),
		})
	}
	return t
}
