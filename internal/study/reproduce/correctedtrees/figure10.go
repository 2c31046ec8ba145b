package correctedtrees

import (
	"fmt"
	"slices"
	"strconv"

	"banyan/internal/study/report"
)

// figure10 marks every pair of a longest gap and a time of correction that came.
func (e *experiment) figure10(s *faultStudy) *report.Figure {
	f := report.Figure{
		Name: "figure-10", Title: "Figure 10: the longest gap and the time of correction",
		Caption: fmt.Sprintf("A marker is at least one of %s broadcasts, of all trees and fault rates. The lines are lemma 3's bounds, with ⌈L/o⌉. Trees are drawn a little beside each other; gaps are whole numbers. A broadcast in which all children of the root are dead is in the data alone.", report.Number(float64(len(s.runs)))),
		X:       report.Axis{Label: "longest gap g_max (processes)"}, Y: report.Axis{Label: "time of correction L_SCC (steps)"},
		Data: &report.Table{Columns: []string{"tree", "g_max", "l_scc", "broadcasts", "lower_bound", "upper_bound"}},
	}
	widest := 0
	for i, t := range trees {
		series := report.Series{Name: t.name, Style: report.Points, Look: i + 1}
		for _, pair := range sortedPairs(s.pairs[i]) {
			gap, took := pair[0], pair[1]
			low, high := bounds(gap)
			if !s.isAlone(gap) { // it would be far out, and the bounds aren't for it
				widest = max(widest, gap)
				series.Points = append(series.Points, report.Point{X: float64(gap) + 0.16*(float64(i)-1.5), Y: float64(took)})
			}
			f.Data.Rows = append(f.Data.Rows, []string{t.name, strconv.Itoa(gap), strconv.Itoa(took), strconv.Itoa(s.pairs[i][pair]), strconv.Itoa(low), strconv.Itoa(high)})
		}
		f.Series = append(f.Series, series)
	}
	lower := report.Series{Name: "lower bound", Style: report.Line, Dashed: true, Look: 7}
	upper := report.Series{Name: "upper bound", Style: report.Line, Look: 7}
	for gap := range widest + 1 {
		low, high := bounds(gap)
		lower.Points = append(lower.Points, report.Point{X: float64(gap), Y: float64(low)})
		upper.Points = append(upper.Points, report.Point{X: float64(gap), Y: float64(high)})
	}
	f.Series = append(f.Series, lower, upper)
	return &f
}

func sortedPairs(pairs map[[2]int]int) [][2]int {
	var all [][2]int
	for p := range pairs {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return all
}
