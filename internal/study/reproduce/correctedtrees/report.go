package correctedtrees

import (
	"fmt"
	"slices"

	"banyan/internal/study/report"
)

// report sets what was found beside the paper.
func (e *experiment) report(s *studies) *report.Report {
	number := func(n int) string { return report.Number(float64(n)) }
	return &report.Report{
		Title:   "Corrected trees: the paper's simulations, repeated",
		Source:  "Küttler, Planeta, Bierbaum, Weinhold, Härtig, Barak, Hoefler: Corrected Trees for Reliable Group Communication. PPoPP 2019.",
		Command: e.command(),
		About: []string{
			"Every simulated figure and table of the paper, and what its text says of them, by Banyan's own protocols in its own LogP simulator. Nothing was tuned to agree: where we differ, the explanation says why. " +
				"The paper's pictures were not at hand; it is compared with what its text and table say.",
			"Broadcasts with checked correction along trees are evaluated incrementally: only what the dead change, which tests show to be equal to the event-driven engine, message for message. " +
				"Whom opportunistic correction leaves uncoloured is computed for the dead of the same broadcasts, as reachability, which a test shows to be equal to the engine as well. All else is run by the engine.",
			fmt.Sprintf("A fault rate is a number of dead processes: its share of P, rounded to the nearest. 0.01 %% of %s is %d; for the standard deviation, for which that matters, also %d.", number(e.Procs), deadAt(lowest(), e.Procs), deadBelow(lowest(), e.Procs)),
			"Means have 95 % confidence intervals by the normal approximation; percentiles are order statistics, with distribution-free intervals between order statistics; shares have Wilson's interval. " +
				"Each broadcast with dead processes is a line of runs/*.csv with its seed, by which banyan sim broadcast repeats it.",
		},
		Settings: e.settings(),
		Claims: slices.Concat(e.numberingClaims(&s.numberings), e.faultFreeClaims(&s.faultFree), e.table1Claims(&s.faults), e.faultClaims(s),
			e.gapClaims(&s.faults), e.uncolouredClaims(s)),
		Sections: []report.Section{
			{Title: "Introduction", Figures: []*report.Figure{e.figure1b(&s.numberings), e.figure1bMore(&s.numberings)}},
			{Title: "Without faults", Figures: []*report.Figure{e.figure6(&s.faultFree, 0), e.figure6(&s.faultFree, 1), e.figure7(&s.faultFree), e.figure14(&s.faultFree)},
				Tables: []*report.Table{e.gossipTimes(&s.faultFree), e.gossipSafetyTable(&s.faultFree)}},
			{Title: "With faults", Figures: []*report.Figure{e.figure8(s), e.figure8Opportunistic(s), e.figure9(s), e.figure9Opportunistic(s), e.figure10(&s.faults)},
				Tables: []*report.Table{e.table1(&s.faults), e.uncolouredTable(s)}},
		},
	}
}

// command is what makes the report again.
func (e *experiment) command() string {
	flag := ""
	if e.Mode == "quick" || e.Mode == "full" {
		flag = " --" + e.Mode
	}
	return fmt.Sprintf("banyan reproduce corrected-trees --out DIR%s --seed %d", flag, e.Seed)
}

func (e *experiment) settings() []report.Setting {
	number := func(n int) string { return report.Number(float64(n)) }
	return []report.Setting{
		{Name: "network", Value: fmt.Sprintf("L = %d, o = %d, g = o", latency, overhead)},
		{Name: "processes", Value: number(e.Procs)},
		{Name: "checked correction", Value: number(e.Runs) + " broadcasts for each tree and fault rate"},
		{Name: "opportunistic correction, gossip", Value: number(e.EngineRuns) + " broadcasts for each point"},
		{Name: "figure 1b", Value: number(e.NumberingRuns) + " broadcasts for each point"},
		{Name: "gossip times", Value: fmt.Sprintf("%s broadcasts for each time that is tried; %s that leave nobody uncoloured, a tenth below %s processes", number(e.SearchRuns), number(e.SafeRuns), number(e.Procs))},
		{Name: "seed", Value: fmt.Sprint(e.Seed)},
	}
}

// gossipTimes are the times that were found.
func (e *experiment) gossipTimes(s *faultFreeStudy) *report.Table {
	t := report.Table{Name: "gossip-times", Title: "Gossip times", Caption: "in steps, without faults", Columns: []string{"processes", "fastest, checked", "mean latency"}}
	for _, d := range distances {
		t.Columns = append(t.Columns, fmt.Sprintf("safe, distance %d", d), "mean latency")
	}
	for _, procs := range s.sizes {
		g := s.gossip[procs]
		row := []string{report.Number(float64(procs)), fmt.Sprint(g.fastest), text(g.quiescence.mean())}
		for _, safe := range g.safe {
			row = append(row, fmt.Sprint(safe.time), text(safe.quiescence.mean()))
		}
		t.Rows = append(t.Rows, row)
	}
	return &t
}

// uncolouredTable counts the broadcasts that opportunistic correction doesn't finish.
func (e *experiment) uncolouredTable(s *studies) *report.Table {
	t := report.Table{
		Name: "uncoloured", Title: "Broadcasts that opportunistic correction leaves with uncoloured processes", Caption: "by how many it leaves",
		Columns: []string{"distance", "tree", "F (%)", "dead", "broadcasts", "1", "2", "3", "4 or more"},
	}
	for d, distance := range distances {
		for i, tree := range trees {
			for _, rate := range rates {
				left := s.uncoloured.left[d][point{i, deadAt(rate, e.Procs)}]
				t.Rows = append(t.Rows, []string{fmt.Sprint(distance), tree.name, text(rate), fmt.Sprint(deadAt(rate, e.Procs)), fmt.Sprint(left.size()),
					fmt.Sprint(left[1]), fmt.Sprint(left[2]), fmt.Sprint(left[3]), fmt.Sprint(left.above(3))})
			}
		}
	}
	return &t
}
