package correctedtrees

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/study/report"
)

var numberingNames = map[string]string{"inorder": "in order", "interleaved": "interleaved"}

// interleavedLimit is the vertical line of figure 1b, in steps.
const interleavedLimit = 10.5

// figure1b is the paper's, with its axes exchanged: the mean time of correction in order, and the
// line that the interleaved tree's doesn't exceed.
func (e *experiment) figure1b(s *numberingStudy) *report.Figure {
	procs := s.largest()
	f := report.Figure{
		Name: "figure-1b", Title: "Figure 1b: correction of a binomial tree with 1, 2 and 5 dead processes",
		Caption: fmt.Sprintf("The mean time of synchronised checked correction, P = %s; whiskers span the 10 %% and 90 %% quantiles. With one dead process it is exact: each is the dead one once. The paper draws time to the right and its limit of 10.5 steps as a vertical line.", report.Number(float64(procs))),
		X:       report.Axis{Label: "dead processes", From: 0.5, To: 5.5}, Y: report.Axis{Label: "mean time of correction (steps)", Log: true},
		Data: s.paperTable(),
	}
	for _, dead := range paperDeaths {
		f.X.Ticks = append(f.X.Ticks, float64(dead))
	}
	for i, numbering := range []string{"inorder", "interleaved"} {
		series := report.Series{Name: numberingNames[numbering], Look: i + 1, Style: report.Points, Spread: report.Whiskers}
		for _, dead := range paperDeaths {
			x, _ := s.paperPoint(numbering, dead)
			mean := x.mean()
			series.Points = append(series.Points, report.Point{X: float64(dead), Y: mean, Low: min(mean, x.quantile(0.1)), High: max(mean, x.quantile(0.9))})
		}
		f.Series = append(f.Series, series)
	}
	f.Series = append(f.Series, limitLine(0.5, 5.5))
	return &f
}

// figure1bMore shows more numbers of dead processes, and smaller trees.
func (e *experiment) figure1bMore(s *numberingStudy) *report.Figure {
	f := report.Figure{
		Name: "figure-1b-more", Title: "Beyond figure 1b: more dead processes, smaller trees",
		Caption: "The mean time of synchronised checked correction. Interleaved, it hardly grows; in order it grows with the number of dead processes and with the tree.",
		X:       report.Axis{Label: "dead processes", Log: true}, Y: report.Axis{Label: "mean time of correction (steps)", Log: true},
		Data: s.table(s.deaths(), s.sizes),
	}
	for _, numbering := range []string{"inorder", "interleaved"} {
		for i, procs := range s.sizes {
			series := report.Series{Name: fmt.Sprintf("%s, P = %s", numberingNames[numbering], report.Number(float64(procs))), Look: i + 1, Dashed: numbering == "interleaved"}
			for _, dead := range s.deaths() {
				series.Points = append(series.Points, report.Point{X: float64(dead), Y: s.points[numberingPoint{numbering, procs, dead}].mean()})
			}
			f.Series = append(f.Series, series)
		}
	}
	deaths := s.deaths()
	f.Series = append(f.Series, limitLine(float64(deaths[0]), float64(deaths[len(deaths)-1])))
	return &f
}

func limitLine(from, to float64) report.Series {
	return report.Series{Name: "10.5 steps", Style: report.Line, Look: 7, Points: []report.Point{{X: from, Y: interleavedLimit}, {X: to, Y: interleavedLimit}}}
}

// paperPoint has the times at a point of figure 1b. With one dead process it is exact.
func (s *numberingStudy) paperPoint(numbering string, dead int) (times sample, exact bool) {
	if dead == 1 {
		return s.each[numbering], true
	}
	return s.points[numberingPoint{numbering, s.largest(), dead}], false
}

// timeColumns are those of tables of times.
var timeColumns = []string{"numbering", "procs", "dead", "broadcasts", "mean", "mean_low", "mean_high", "p10", "median", "p90", "max"}

func timeRow(numbering string, procs, dead int, x sample, exact bool) []string {
	mean, half := x.mean(), x.meanInterval()
	if exact {
		half = 0
	}
	return []string{numbering, strconv.Itoa(procs), strconv.Itoa(dead), strconv.Itoa(x.size()), text(mean), text(mean - half), text(mean + half),
		text(x.quantile(0.1)), text(x.quantile(0.5)), text(x.quantile(0.9)), strconv.Itoa(x.max())}
}

func (s *numberingStudy) paperTable() *report.Table {
	t := report.Table{Columns: timeColumns}
	for _, numbering := range []string{"inorder", "interleaved"} {
		for _, dead := range paperDeaths {
			x, exact := s.paperPoint(numbering, dead)
			t.Rows = append(t.Rows, timeRow(numbering, s.largest(), dead, x, exact))
		}
	}
	return &t
}

// table has the times for some numbers of dead processes, and of all.
func (s *numberingStudy) table(deaths, sizes []int) *report.Table {
	t := report.Table{Columns: timeColumns}
	for _, numbering := range []string{"inorder", "interleaved"} {
		for _, procs := range sizes {
			for _, dead := range deaths {
				t.Rows = append(t.Rows, timeRow(numbering, procs, dead, s.points[numberingPoint{numbering, procs, dead}], false))
			}
		}
	}
	return &t
}

// largest is the number of processes of figure 1b.
func (s *numberingStudy) largest() int { return s.sizes[len(s.sizes)-1] }

// numberingClaims are the introduction's, figure 1b.
func (e *experiment) numberingClaims(s *numberingStudy) []report.Claim {
	return []report.Claim{s.limitClaim(), s.inOrderClaim(), s.largerClaim(), s.oneDeadClaim()}
}

// limitClaim is about the interleaved tree.
func (s *numberingStudy) limitClaim() report.Claim {
	procs := s.largest()
	var means []string
	within := true
	for _, dead := range paperDeaths {
		x, exact := s.paperPoint("interleaved", dead)
		within = within && x.mean() <= interleavedLimit
		means = append(means, meanText(x, exact))
	}
	most, above := 0, 0.0
	for _, dead := range s.deaths() {
		if m := s.points[numberingPoint{"interleaved", procs, dead}].mean(); m <= interleavedLimit {
			most = dead
		} else {
			above = max(above, m)
		}
	}
	claim := report.Claim{
		Where: "figure 1b", What: fmt.Sprintf("mean time of correction, interleaved binomial tree, P = %s, with 1, 2 and 5 dead processes", report.Number(float64(procs))), Paper: "at most 10.5 steps",
		Ours: strings.Join(means, ", ") + " steps", Verdict: verdict(within),
		Explanation: fmt.Sprintf("It is 8 without faults. The paper's limit holds for up to %d dead of those that we tried.", most),
	}
	if above > 0 {
		claim.Explanation += fmt.Sprintf(" With more it is above, %.2f with %d, as the paper's figure 8 and table 1 have it, too.", above, slices.Max(s.deaths()))
	}
	return claim
}

// inOrderClaim is about the tree in order.
func (s *numberingStudy) inOrderClaim() report.Claim {
	var parts []string
	grows, shrinks := false, false
	for i, dead := range paperDeaths {
		x, exact := s.paperPoint("inorder", dead)
		parts = append(parts, fmt.Sprintf("%d: %s (%g to %g)", dead, meanText(x, exact), x.quantile(0.1), x.quantile(0.9)))
		if i > 0 {
			before, _ := s.paperPoint("inorder", paperDeaths[i-1])
			first, _ := s.paperPoint("inorder", paperDeaths[0])
			grows, shrinks = grows || surelyMore(x, first), shrinks || surelyMore(before, x)
		}
	}
	claim := report.Claim{
		Where: "figure 1b", What: "mean time of correction, binomial tree in order, with 1, 2 and 5 dead processes", Paper: "grows with the number of faults",
		Ours: strings.Join(parts, "; ") + " steps", Verdict: report.Differs,
		Explanation: "In brackets the 10 % and 90 % quantiles. The mean is above most broadcasts: few of the dead are near the root, but those cost much.",
	}
	switch {
	case grows && !shrinks:
		claim.Verdict = report.Agrees
	case !shrinks:
		claim.Verdict = report.Open
		claim.Explanation += tooFew
	}
	return claim
}

// meanText is a mean with its interval, unless it is exact.
func meanText(x sample, exact bool) string {
	if exact {
		return fmt.Sprintf("%.2f", x.mean())
	}
	return fmt.Sprintf("%.2f ± %.2f", x.mean(), x.meanInterval())
}

// largerClaim compares the numbers of processes.
func (s *numberingStudy) largerClaim() report.Claim {
	procs, least := s.largest(), s.sizes[0]
	deaths := s.deaths()
	first, last := deaths[0], deaths[len(deaths)-1]
	inOrder := func(procs, dead int) sample { return s.points[numberingPoint{"inorder", procs, dead}] }
	smaller := false
	for _, dead := range deaths {
		smaller = smaller || surelyMore(inOrder(least, dead), inOrder(procs, dead))
	}
	claim := report.Claim{
		Where: "section 1", What: "correction of a binomial tree in order takes longer in larger trees", Paper: "yes",
		Ours: fmt.Sprintf("P = %s: %.0f steps with %d dead, %.0f with %d; P = %s: %.0f and %.0f", report.Number(float64(procs)), inOrder(procs, first).mean(), first, inOrder(procs, last).mean(), last,
			report.Number(float64(least)), inOrder(least, first).mean(), inOrder(least, last).mean()),
		Verdict: report.Differs, Explanation: "Means. No number of dead processes that we tried speaks against it, by intervals of 95 %; agrees if they also suffice to show it.",
	}
	if !smaller {
		claim.Verdict = report.Open
		if surelyMore(inOrder(procs, first), inOrder(least, first)) || surelyMore(inOrder(procs, last), inOrder(least, last)) {
			claim.Verdict = report.Agrees
		}
	}
	return claim
}

// oneDeadClaim is exact: each process is the dead one once.
func (s *numberingStudy) oneDeadClaim() report.Claim {
	in, inter := s.each["inorder"], s.each["interleaved"]
	ratio := float64(in.max()) / in.mean()
	return report.Claim{
		Where: "section 1", What: "in order, a single fault near the root can make correction longer than on average", Paper: "by orders of magnitude",
		Ours:    fmt.Sprintf("up to %s steps, %.0f times the mean of %.2f (median %g); interleaved %d and %.2f", report.Number(float64(in.max())), ratio, in.mean(), in.quantile(0.5), inter.max(), inter.mean()),
		Verdict: verdict(math.Log10(ratio) >= 2), Explanation: fmt.Sprintf("Exact: each of the %s processes but the root is the dead one once.", report.Number(float64(in.size()))),
	}
}

// surelyMore says whether a mean is above another by more than chance: their 95 % intervals
// don't meet.
func surelyMore(a, b sample) bool {
	return a.mean()-a.meanInterval() > b.mean()+b.meanInterval()
}
