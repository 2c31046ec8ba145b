package failuredetector

import (
	"fmt"
	"math"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/report"
)

func (s *forcedStudy) claims(q []quantity) []report.Claim {
	last := len(s.Sizes) - 1
	first := s.abstract[window][last].First
	base := s.detection()
	exceeded, unstable, share := 0, 0, 0.0
	for _, summaries := range []map[forcedLaw][]stabilisation.Summary{s.abstract, s.machines} {
		for _, law := range []forcedLaw{window, pace} {
			for _, m := range summaries[law] {
				exceeded += m.Exceeded
				unstable += m.Unstable + m.False
				share = max(share, m.OfBound)
			}
		}
	}
	growth := func(q *quantity) string {
		return fmt.Sprintf("%s: %.3g s for each doubling from %s nodes on (R² = %.3f)", q.law.name, q.tail.by[1], report.Number(largeSizes), q.tail.explained)
	}
	gap := float64(s.timeout) / paces / 1e9
	excess := func(i int) float64 { return s.abstract[window][i].First.Mean - base }
	delta := float64(s.timeout) / 1e9
	return []report.Claim{
		{
			Where: s.where, What: "the first failure is known δ − η/2 after it struck, at large sizes",
			Paper: fmt.Sprintf("%v s", base), Ours: measured(first, " s"), Difference: report.Difference(base, first.Mean),
			Verdict: verdict(math.Abs(first.Mean-base) < max(3*first.Error, 0.01*base)), Explanation: "It does at every size but for the runs of the next row.",
		},
		{
			Where: s.where, What: "at small sizes it takes longer, by O(1/n): another failure may hit the observer",
			Paper: "∝ 1/n", Ours: fmt.Sprintf("%+.3g s at %d nodes, %+.2g s at %d; a + b/n fits with R² = %.3f, a + b(f−1)/n with %.3f", excess(0), s.Sizes[0], excess(last), s.Sizes[last], q[0].printed.explained, q[0].counted.explained),
			Verdict:     verdict(q[0].printed.explained > 0.8 && excess(0) > 10*math.Abs(excess(last))),
			Explanation: "Each of the other f − 1 failures hits the observer with probability 1/(n−1). As f grows with log n, that is O(log n/n), which 1/n fits well enough.",
		},
		{
			Where: s.where, What: "which delays the first's detection by another δ",
			Paper: fmt.Sprintf("by %v s", delta),
			Ours:  fmt.Sprintf("by %.3g s in the %d of %d runs in which it does, %d nodes", s.late-base, s.lateRuns, s.Runs, s.lateNodes), Difference: report.Difference(delta, s.late-base),
			Verdict: verdict(math.Abs(s.late-base-delta) < 0.1*delta),
			Explanation: "The observer's own death is detected first, δ after its last heartbeat; then its observer gives the first victim 2δ (line 19 of algorithm 1). " +
				"So it is the time between the two failures and 2δ. The text forgets both the one and line 19.",
		},
		{
			Where: s.where, What: "until all know of all, it takes longer the larger the system, by O(log n)",
			Paper: "fitted by O(1/n + ⌊log2 n⌋)", Ours: growth(&q[2]) + "; " + growth(&q[1]),
			Verdict: verdict(math.Abs(q[2].tail.by[1]-gap) < 0.25*gap && q[2].tail.explained > 0.95),
			Explanation: fmt.Sprintf("Over all sizes, a + b/n + c⌊log2 n⌋ fits with R² = %.2f and %.2f, a + bf(f−1)/n + cf with %.2f and %.2f: f(f−1)/n pairs of failures are neighbours. ",
				q[2].printed.explained, q[1].printed.explained, q[2].counted.explained, q[1].counted.explained) + "There are ⌊log2 n⌋ − 1 failures, each known about δ − η/2 after it struck. So it is the law of the failures that is seen: if they come at a pace, each takes " +
				"its gap longer, δ/20; if they come within a window, it fills up and the curve flattens. The paper doesn't give its law. The broadcasts' logarithm, tens of µs, can't be seen.",
		},
		{
			Where: "theorem 1, figure " + s.figure, What: "T(f) bounds the time to a stable configuration",
			Paper: "always", Ours: fmt.Sprintf("%d of %d runs longer; at most %.3g %% of the bound", exceeded, s.runs(), 100*share),
			Verdict: verdict(exceeded+unstable == 0), Explanation: "The bound supposes that all failures hit neighbours one after the other, at the worst moments.",
		},
		s.compared.claim(s.where),
	}
}

// claim says how far the engines are apart.
func (c *comparison) claim(where string) report.Claim {
	return report.Claim{
		Where: where, What: "the abstraction (no heartbeats, time-outs asserted) does what the protocol does",
		Paper: "assumed", Ours: fmt.Sprintf("%d runs of the machines, %d with %d nodes: %d differ in failures or broadcasts, the others by %.3g µs at most", c.runs, c.atFullSize, fullSize, c.different, float64(c.apart)/1e3),
		Verdict: verdict(c.different == 0 && c.apart < proto.Time(1e6)), Explanation: "Both engines play the same scenarios; each draws the messages' times, up to 1 µs, for itself.",
	}
}

// runs is how many there were.
func (s *forcedStudy) runs() int {
	n := 0
	for _, law := range []forcedLaw{window, pace} {
		for _, m := range slices.Concat(s.abstract[law], s.machines[law]) {
			n += m.Runs
		}
	}
	return n
}

func (s *forcedStudy) table() *report.Table {
	t := report.Table{
		Name: "stabilisation-" + s.figure, Title: "Figure " + s.figure + " in numbers", Caption: "means, in seconds; messages since the first failure",
		Columns: []string{"nodes", "law", "engine", "runs", "failures", "first known to all", "all known to all", "longest", "broadcasts", "heartbeats", "news"},
	}
	row := func(n int, law forcedLaw, engine string, m *stabilisation.Summary) {
		if m.Runs == 0 {
			return
		}
		t.Rows = append(t.Rows, []string{
			report.Number(float64(n)), law.name, engine, report.Number(float64(m.Runs)), number(m.Failures.Mean),
			measured(m.First, ""), measured(m.All, ""), number(m.All.Greatest), fmt.Sprintf("%.3f", m.Broadcasts.Mean),
			report.Number(math.Round(m.Heartbeats.Mean)), report.Number(math.Round(m.News.Mean)),
		})
	}
	for _, law := range []forcedLaw{window, pace} {
		for i, n := range s.Sizes {
			row(n, law, "abstraction", &s.abstract[law][i])
		}
		for i, share := range s.Machines {
			row(share.Nodes, law, "machines", &s.machines[law][i])
		}
	}
	return &t
}
