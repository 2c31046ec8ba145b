package failuredetector

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/report"
	"banyan/internal/stabilisation"
)

// forcedLaw is how the failures of figure 4 strike. The paper only says: as many as are
// covered, "in a very short time, inferior to δ".
type forcedLaw struct {
	name string
	law  stabilisation.Law
}

// window draws them from δ - η, so that all strike before the first is detected; pace has
// one strike after the other, δ/20 apart on average, so that those of 256,000 nodes take 45 s.
var (
	window = forcedLaw{"within δ − η", stabilisation.Forced}
	pace   = forcedLaw{"each δ/20", stabilisation.Paced}
)

// paces is how many gaps make δ.
const paces = 20

// forcedStudy is figure 4a or 4b.
type forcedStudy struct {
	*experiment
	scenario
	figure   string
	where    string
	abstract map[forcedLaw][]stabilisation.Summary // by size
	machines map[forcedLaw][]stabilisation.Summary // by share
	compared comparison
	// late is the mean time until the first failure is known in runs in which its observer
	// failed too, lateRuns how many those were, of so many nodes.
	late                float64
	lateRuns, lateNodes int
}

func (e *experiment) studyLowNoise() (part, error) { return e.studyForced(lowNoise, "4a") }

func (e *experiment) studyLowLatency() (part, error) { return e.studyForced(lowLatency, "4b") }

func (e *experiment) studyForced(s scenario, figure string) (part, error) {
	study := forcedStudy{
		experiment: e, scenario: s, figure: figure, where: "section 4.2, figure " + figure,
		abstract: map[forcedLaw][]stabilisation.Summary{}, machines: map[forcedLaw][]stabilisation.Summary{},
	}
	for _, law := range []forcedLaw{window, pace} {
		if err := study.simulate(law); err != nil {
			return part{}, err
		}
	}
	return study.part()
}

// simulate runs all sizes under a law.
func (s *forcedStudy) simulate(law forcedLaw) error {
	step := fmt.Sprintf("figure %s, %s", s.figure, law.name)
	outcomes := map[int][]stabilisation.Outcome{}
	run := func(nodes int, engine stabilisation.EngineKind, runs int) ([]stabilisation.Outcome, stabilisation.Summary, error) {
		settings := s.settings(nodes)
		settings.Law, settings.Failures = law.law, settings.MostFailures()
		settings.Within, settings.Gap = s.timeout-s.period, s.timeout/paces
		o, err := s.campaign(step, settings, engine, runs)
		return o, settings.Summarise(o), err
	}
	for _, n := range s.Sizes {
		o, summary, err := run(n, stabilisation.Abstract, s.Runs)
		if err != nil {
			return err
		}
		outcomes[n] = o
		s.abstract[law] = append(s.abstract[law], summary)
	}
	if law == window {
		for _, n := range s.Sizes {
			s.findLate(n, outcomes[n])
		}
	}
	for _, share := range s.Machines {
		if outcomes[share.Nodes] == nil {
			o, _, err := run(share.Nodes, stabilisation.Abstract, share.Forced)
			if err != nil {
				return err
			}
			outcomes[share.Nodes] = o
		}
		runs := share.Forced
		if law == pace && share.Nodes > 1024 { // the other law says what there is to say
			runs /= 2
		}
		if runs == 0 {
			s.machines[law] = append(s.machines[law], stabilisation.Summary{})
			continue
		}
		o, summary, err := run(share.Nodes, stabilisation.Machine, runs)
		if err != nil {
			return err
		}
		s.machines[law] = append(s.machines[law], summary)
		s.compared.add(share.Nodes, o, outcomes[share.Nodes])
	}
	return nil
}

// findLate looks for runs in which the observer of the first failure failed too. The
// larger the size the likelier it was that one only, so the largest with some such runs counts.
func (s *forcedStudy) findLate(nodes int, outcomes []stabilisation.Outcome) {
	sum, late := 0.0, 0
	for i := range outcomes {
		if outcomes[i].First > s.timeout+proto.Time(1e6) {
			late++
			sum += float64(outcomes[i].First) / 1e9
		}
	}
	if late >= 20 || s.lateRuns == 0 && late > 0 {
		s.late, s.lateRuns, s.lateNodes = sum/float64(late), late, nodes
	}
}

func constant(float64) float64    { return 1 }
func inverse(n float64) float64   { return 1 / n }
func logarithm(n float64) float64 { return float64(bits.Len(uint(n)) - 1) }

// observers is the mean number of failures but the first that hit its observer, and neighbours
// that of pairs of failures that are neighbours on the ring, for ⌊log2 n⌋ - 1 failures.
func observers(n float64) float64  { return (logarithm(n) - 2) / n }
func neighbours(n float64) float64 { return (logarithm(n) - 1) * (logarithm(n) - 2) / n }

// quantity is what a series of figure 4 shows.
type quantity struct {
	name string
	law  forcedLaw
	of   func(*stabilisation.Summary) stabilisation.Spread
	// printed is the paper's kind of fit, counted ours: with the number of failures in it; tail is
	// a line over log2 n, of the large sizes alone.
	printed, counted, tail fit
}

// largeSizes are those at which failures hardly ever hit neighbours. There are two at least.
const largeSizes = 16384

func (s *forcedStudy) part() (part, error) {
	first := func(m *stabilisation.Summary) stabilisation.Spread { return m.First }
	all := func(m *stabilisation.Summary) stabilisation.Spread { return m.All }
	quantities := []quantity{
		{name: "first known", law: window, of: first},
		{name: "all known, " + window.name, law: window, of: all},
		{name: "all known, " + pace.name, law: pace, of: all},
	}
	figure := report.Figure{
		Name: "figure-" + s.figure, Title: fmt.Sprintf("Figure %s: the most failures at once, %s", s.figure, s.name),
		Caption: fmt.Sprintf("f = ⌊log2 n⌋ − 1 failures; δ = %v s, η = %v s, τ = 1 µs. Means of %d runs of the abstraction with 95 %% confidence intervals; dashed lines are fits a + b(f−1)/n, "+
			"and a + bf(f−1)/n + cf for all failures.",
			float64(s.timeout)/1e9, float64(s.period)/1e9, s.Runs),
		X: report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "until all nodes know (s)"},
	}
	for i := range quantities {
		q := &quantities[i]
		values := make([]float64, len(s.Sizes))
		series := report.Series{Name: q.name, Style: report.Points, Spread: report.Whiskers, Look: i + 1}
		for j, n := range s.Sizes {
			spread := q.of(&s.abstract[q.law][j])
			values[j] = spread.Mean
			series.Points = append(series.Points, point(n, spread))
		}
		large := max(0, min(len(s.Sizes)-2, slices.IndexFunc(s.Sizes, func(n int) bool { return n >= largeSizes })))
		var err, err2, err3 error
		q.tail, err3 = newFit(s.Sizes[large:], values[large:], constant, logarithm)
		if i == 0 {
			q.printed, err = newFit(s.Sizes, values, constant, inverse)
			q.counted, err2 = newFit(s.Sizes, values, constant, observers)
		} else {
			q.printed, err = newFit(s.Sizes, values, constant, inverse, logarithm)
			q.counted, err2 = newFit(s.Sizes, values, constant, neighbours, logarithm)
		}
		if err := errors.Join(err, err2, err3); err != nil {
			return part{}, err
		}
		line := report.Series{Style: report.Line, Dashed: true, Look: i + 1}
		for _, n := range s.Sizes {
			line.Points = append(line.Points, report.Point{X: float64(n), Y: q.counted.at(float64(n))})
		}
		machines := report.Series{Name: "machines: " + q.name, Style: report.Points, Spread: report.Whiskers, Look: i + 4}
		for j, share := range s.Machines {
			if m := &s.machines[q.law][j]; m.Runs >= drawnRuns {
				machines.Points = append(machines.Points, point(share.Nodes, q.of(m)))
			}
		}
		figure.Series = append(figure.Series, series, line)
		if len(machines.Points) > 0 {
			figure.Series = append(figure.Series, machines)
		}
	}
	return part{
		claims:  s.claims(quantities),
		section: report.Section{Title: "Figure " + s.figure, Figures: []*report.Figure{&figure}, Tables: []*report.Table{s.table()}},
	}, nil
}

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
