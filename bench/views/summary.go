package views

import (
	"fmt"
	"slices"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/report"
)

// Summary is what the runs of one setting showed together: medians, and the least and the most of
// All.
type Summary struct {
	Setting
	Runs        int
	First, All  risk.Seconds
	Least, Most risk.Seconds
}

// Summarise puts the rows of each setting together, in the order in which settings come.
func Summarise(rows []Row) []Summary {
	var all []Summary
	index := map[Setting]int{}
	firsts, alls := [][]risk.Seconds{}, [][]risk.Seconds{}
	for _, r := range rows {
		i, ok := index[r.Setting]
		if !ok {
			i = len(all)
			index[r.Setting] = i
			all, firsts, alls = append(all, Summary{Setting: r.Setting}), append(firsts, nil), append(alls, nil)
		}
		all[i].Runs++
		firsts[i], alls[i] = append(firsts[i], r.First), append(alls[i], r.All)
	}
	for i := range all {
		s := &all[i]
		s.First, s.All = median(firsts[i]), median(alls[i])
		s.Least, s.Most = slices.Min(alls[i]), slices.Max(alls[i])
	}
	return all
}

func median(times []risk.Seconds) risk.Seconds {
	s := slices.Sorted(slices.Values(times))
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}

// Chart draws the time until all have the view over the number of processes.
func Chart(all []Summary) *report.Figure {
	f := &report.Figure{
		Name: "views", Title: "From a death until all others have the same view",
		Caption: "Medians with the least and the most, on one machine. Detection is in the times, and the time for which the coordinator gathers deaths.",
		X:       report.Axis{Label: "processes that are left"}, Y: report.Axis{Label: "time until all have the view (ms)"},
	}
	at := map[string]int{}
	for _, s := range all {
		name := fmt.Sprintf("%s, %s, %v", s.Of, s.Program, s.Fault)
		i, ok := at[name]
		if !ok {
			i = len(f.Series)
			at[name] = i
			f.Series = append(f.Series, report.Series{Name: name, Style: report.Points, Spread: report.Whiskers, Look: i%report.Looks + 1})
		}
		const ms = 1e3
		f.Series[i].Points = append(f.Series[i].Points, report.Point{X: float64(s.Live()), Y: float64(s.All) * ms, Low: float64(s.Least) * ms, High: float64(s.Most) * ms})
	}
	return f
}
