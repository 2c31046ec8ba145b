package failuredetector

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/report"
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
		if law == pace && share.Nodes > 1024 { // the other law shows it
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

// findLate looks for runs in which the observer of the first failure failed too. The larger the
// size, the likelier it was only that one, so the largest size with some such runs is used.
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

// quantity is what a series of figure 4 shows.
type quantity struct {
	name string
	law  forcedLaw
	of   func(*stabilisation.Summary) stabilisation.Spread
	// printed is the paper's kind of fit, counted ours: with the number of failures in it; tail is
	// a line over log2 n, of the large sizes alone.
	printed, counted, tail fit
}

// largeSizes are those at which failures hardly ever hit neighbours. There are at least two.
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
