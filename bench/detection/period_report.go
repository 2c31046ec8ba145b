package detection

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"banyan/internal/study/report"
)

// PeriodReport is figure 9 of the paper: detection down to the smallest safe period of each
// system.
func PeriodReport(command string, p *PeriodPlan, all []SafePeriod) *report.Report {
	section := report.Section{Title: "Figure 9, measured", Tables: []*report.Table{periodTable(all)}}
	for _, f := range []*report.Figure{periodCurve(all, p.Curve), periodScale(all), periodSafe(all)} {
		if hasPoints(f) {
			section.Figures = append(section.Figures, f)
		}
	}
	return &report.Report{
		Title: "The smallest safe heartbeat period, measured", Source: source, Command: command,
		About: []string{
			fmt.Sprintf("A period η is safe if in each of %d runs all members come up, and no live one is suspected in the %v from then on, beside %d processes that compute. "+
				"Banyan's δ is %d η; memberlist derives its times from η as shipped. The smallest safe period of those tried is found by bisection; the next smaller one had a false suspicion, or its members didn't come up.",
				p.Trials, p.Quiet, p.Load, p.Ratio),
			"memberlist is SWIM with gossip beside its pings, exchanges of lists and pings over TCP (the paper's PP&G) and Lifeguard's extensions; memberlist-swim is the same without the first three.",
			"Detection: a member is stopped (SIGSTOP). Medians, from then until the first and until the last of the others take it for dead.",
		},
		Settings: []report.Setting{
			Machine(), {Name: "periods tried", Value: fmt.Sprint(p.Periods)}, {Name: "runs of a detection", Value: fmt.Sprint(p.Runs)},
		},
		Claims: periodClaims(p, all), Sections: []report.Section{section},
	}
}

// bySystem makes a series of each system.
func bySystem(all []SafePeriod, spread report.Spread, points func(*SafePeriod) []report.Point) (list []report.Series) {
	for i := range all {
		f := &all[i]
		at := slices.IndexFunc(list, func(s report.Series) bool { return s.Name == string(f.System) })
		if at < 0 {
			at = len(list)
			list = append(list, report.Series{Name: string(f.System), Spread: spread})
		}
		list[at].Points = append(list[at].Points, points(f)...)
	}
	return list
}

// known says whether an estimate can be drawn.
func (e Estimate) known() bool { return e.Value > 0 && !math.IsInf(e.Value, 0) }

func periodCurve(all []SafePeriod, members int) *report.Figure {
	return &report.Figure{
		Name: "figure-9-left", Title: fmt.Sprintf("Figure 9, left: detection over η, %d members", members),
		Caption: "Down to each system's smallest safe period. The shaded area is from the first member's knowledge to the last's.",
		X:       report.Axis{Label: "η (ms)", Log: true}, Y: report.Axis{Label: "from the fault (ms)", Log: true},
		Series: bySystem(all, report.Band, func(f *SafePeriod) (points []report.Point) {
			for _, s := range f.Curve {
				if s.First.known() && s.Last.known() {
					points = append(points, report.Point{X: ms(s.Period), Y: s.Last.Value, Low: min(s.First.Value, s.Last.Value), High: s.Last.Value})
				}
			}
			return points
		}),
	}
}

func periodScale(all []SafePeriod) *report.Figure {
	return &report.Figure{
		Name: "figure-9-right", Title: "Figure 9, right: until all know, at the smallest safe η",
		X: report.Axis{Label: "members", Log: true}, Y: report.Axis{Label: "from the fault (ms)", Log: true},
		Series: bySystem(all, report.Whiskers, func(f *SafePeriod) []report.Point {
			if f.At == nil || !f.At.Last.known() {
				return nil
			}
			return []report.Point{drawn(float64(f.N), f.At.Last)}
		}),
	}
}

func periodSafe(all []SafePeriod) *report.Figure {
	return &report.Figure{
		Name: "smallest-safe-period", Title: "The smallest safe η",
		X: report.Axis{Label: "members", Log: true}, Y: report.Axis{Label: "η (ms)", Log: true},
		Series: bySystem(all, report.NoSpread, func(f *SafePeriod) []report.Point {
			if f.Safe == 0 {
				return nil
			}
			return []report.Point{{X: float64(f.N), Y: ms(f.Safe)}}
		}),
	}
}

// periodColumns are those of the report's table.
var periodColumns = []string{"system", "members", "smallest safe η (ms)", "unsafe (ms)", "first knows (ms)", "all know (ms)", "interval", "messages a member and η", "why it isn't safe"}

func periodTable(all []SafePeriod) *report.Table {
	t := &report.Table{Name: "smallest-safe-periods", Title: "Figure 9 in numbers", Caption: "medians with 95 % intervals", Columns: periodColumns}
	period := func(d time.Duration) string {
		if d == 0 {
			return "none"
		}
		return fmt.Sprintf("%g", ms(d))
	}
	for _, f := range all {
		row := []string{string(f.System), fmt.Sprint(f.N), period(f.Safe), period(f.Unsafe), "", "", "", "", f.Why}
		if s := f.At; s != nil {
			row[4], row[5], row[6], row[7] = number(s.First.Value, "%.1f"), number(s.Last.Value, "%.1f"), interval(s.Last, "%.1f"), fmt.Sprintf("%.2f", s.Messages)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// periodClaims sets section 5.4 of the paper beside what was found.
func periodClaims(p *PeriodPlan, all []SafePeriod) []report.Claim {
	const where = "section 5.4, figure 9"
	of := func(system System, n int) *SafePeriod {
		for i := range all {
			if f := &all[i]; f.System == system && f.N == n && f.At != nil {
				return f
			}
		}
		return nil
	}
	swims := slices.DeleteFunc(slices.Clone(p.Systems), System.isBanyan)
	largest, smallest := slices.Max(p.N), slices.Min(p.N)
	ours := of(Banyan, largest)
	var claims []report.Claim
	add := func(what, paper, found string, v report.Verdict, why string) {
		if p.Runs < enoughRuns {
			v, why = report.Open, fmt.Sprintf("Fewer than %d runs. ", enoughRuns)+why
		}
		claims = append(claims, report.Claim{Where: where, What: what, Paper: paper, Ours: found, Verdict: v, Explanation: why})
	}
	for _, system := range swims {
		theirs := of(system, largest)
		safe := "none of those tried"
		if theirs != nil {
			safe = fmt.Sprintf("%g ms", ms(theirs.Safe))
		}
		add(fmt.Sprintf("%s errs below η = 100 ms, %d members", system, largest), "smallest safe η 100 ms, 256 processes", safe,
			agrees(theirs == nil || theirs.Safe >= 100*time.Millisecond),
			"The paper's members had a core each and lost packets on a network; here all share one machine, whose loopback loses few. What made the next smaller period unsafe is in the table.")
		if ours == nil || theirs == nil {
			continue
		}
		add(fmt.Sprintf("the ring bears a smaller η than %s, %d members", system, largest), "down to the scheduler's quantum",
			fmt.Sprintf("%g ms against %g ms", ms(ours.Safe), ms(theirs.Safe)), agrees(ours.Safe < theirs.Safe),
			"Both need the processor once a period. The table says which suspicions made the next smaller period unsafe.")
		add(fmt.Sprintf("each at its smallest safe η, the ring's news is with all sooner than that of %s, %d members", system, largest), "100 ms against more than 2 s",
			fmt.Sprintf("%s ms against %s ms", number(ours.At.Last.Value, "%.0f"), number(theirs.At.Last.Value, "%.0f")), agrees(ours.At.Last.Value < theirs.At.Last.Value), "Medians.")
		add(fmt.Sprintf("%s sends about twice the messages of the ring in a period", system), "double",
			fmt.Sprintf("%.2f against %.2f", theirs.At.Messages, ours.At.Messages), agrees(within(theirs.At.Messages/ours.At.Messages, 1.8, 2.3)),
			"A ping and its answer against a heartbeat; gossip, indirect pings and news after the start come on top.")
		if few := of(system, smallest); few != nil && smallest < largest {
			add(fmt.Sprintf("the time of %s grows with the members, in periods", system), "1.4 s to more than 2 s",
				fmt.Sprintf("%.3g η at %d members, %.3g η at %d", periods(few), smallest, periods(theirs), largest), agrees(periods(theirs) > 1.1*periods(few)),
				"A suspect has a time to object that grows with the logarithm of the members.")
		}
	}
	if few := of(Banyan, smallest); few != nil && ours != nil && smallest < largest {
		add("the ring's time doesn't grow with the members, in periods", "100 ms at all sizes",
			fmt.Sprintf("%.3g η at %d members, %.3g η at %d", periods(few), smallest, periods(ours), largest), agrees(periods(ours) < 1.25*periods(few)),
			"δ is the same multiple of η at all sizes."+growth(ours))
	}
	plain, gossip := of(MemberlistSwim, largest), of(Memberlist, largest)
	if plain != nil && gossip != nil {
		spread := func(f *SafePeriod) float64 { return (f.At.Last.Value - f.At.First.Value) / ms(f.Safe) }
		add("gossip and exchanges of lists close the gap between the first and the last to know", "especially for small η",
			fmt.Sprintf("%.2g η with them, %.2g η without, %d members", spread(gossip), spread(plain), largest), agrees(spread(gossip) < spread(plain)), "Each at its smallest safe η.")
	}
	return claims
}

// growth says what of a system's time isn't counted in periods: the line through its curve.
func growth(f *SafePeriod) string {
	var eta, time, weights []float64
	for _, s := range f.Curve {
		if s.Last.known() {
			last := s.Last.Value
			eta, time, weights = append(eta, ms(s.Period)), append(time, last), append(weights, 1/(last*last)) // what counts is the relative error
		}
	}
	if len(eta) < 3 {
		return ""
	}
	fixed, perPeriod := stat.LinearRegression(eta, time, weights, false)
	return fmt.Sprintf(" From η = %g to %g ms its time of %d members is %.3g η and %.2g ms, whatever η is.",
		eta[0], eta[len(eta)-1], f.N, perPeriod, fixed)
}

// periods is the time until all know, in heartbeat periods.
func periods(f *SafePeriod) float64 { return f.At.Last.Value / ms(f.Safe) }

func within(x, low, high float64) bool { return low <= x && x <= high }
