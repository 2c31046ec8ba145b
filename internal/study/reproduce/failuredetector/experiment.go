package failuredetector

import (
	"context"
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
)

// Progress is called with how far a step is: done of total.
type Progress func(step string, done, total int)

// experiment is what the studies share.
type experiment struct {
	Parameters
	ctx      context.Context
	progress Progress
	store    *pieces.Store
}

// Run simulates everything and returns the report. When ctx ends it stops early and returns its
// error. What is finished is kept in a directory of pieces, and Run with the same parameters goes
// on there, also after a kill; with "" nothing is kept. A directory of other parameters, or of a
// simulator with other outcomes, is refused with [pieces.ErrOther].
func Run(ctx context.Context, dir string, p Parameters, progress Progress) (_ *report.Report, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	e := &experiment{Parameters: p, ctx: ctx, progress: progress}
	if dir != "" {
		if e.store, err = open(dir, p); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, e.store.Close()) }()
	}
	var parts []part
	for _, study := range []func() (part, error){
		e.studyRisk, e.studyLowNoise, e.studyLowLatency, e.studyRandom, e.studyBroadcast, e.studyQuiet, e.studyHosts, e.studyProbing, e.studySeveral,
	} {
		q, err := study()
		if err != nil {
			return nil, err
		}
		parts = append(parts, q)
	}
	return e.report(parts), nil
}

// part is what one study contributes to the report.
type part struct {
	claims  []report.Claim
	section report.Section
}

const second = proto.Time(1e9)

// scenario is one of the paper's two settings of the detector, section 4.1.
type scenario struct {
	name            string
	period, timeout proto.Time
}

var (
	lowNoise   = scenario{"LOWNOISE", 10 * second, 60 * second}
	lowLatency = scenario{"LOWLAT", second / 10, second}
)

// settings are those for a number of nodes.
func (s scenario) settings(nodes int) stabilisation.Settings {
	return stabilisation.Settings{
		Nodes: nodes, Period: s.period, Timeout: s.timeout, Tau: 1000, HostSize: 1,
		Law: stabilisation.Forced, Failures: 1, Within: 1,
	}
}

// detection is δ - η/2, in seconds.
func (s scenario) detection() float64 { return float64(s.timeout-s.period/2) / 1e9 }

// campaign runs settings so often.
func (e *experiment) campaign(step string, s stabilisation.Settings, engine stabilisation.EngineKind, runs int) ([]stabilisation.Outcome, error) {
	c := stabilisation.Campaign{Settings: s, Engine: engine, Runs: runs, Seed: e.Seed, Workers: e.Workers}
	if engine == stabilisation.Machine {
		step = fmt.Sprintf("%s: machines, %d nodes", step, s.Nodes)
	} else {
		step = fmt.Sprintf("%s: %d nodes", step, s.Nodes)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s %d %+v", step, engine, s)
	return pieces.Each(e.ctx, e.store, what, runs, e.Workers, func(done int) { e.progress(step, done, runs) }, c.Player(e.ctx))
}

// comparison is how far machines and abstraction differ on the same scenarios.
type comparison struct {
	runs, different int // in failures or broadcasts
	apart           proto.Time
	atFullSize      int
}

func (c *comparison) add(nodes int, machines, abstract []stabilisation.Outcome) {
	for i := range machines {
		m, a := &machines[i], &abstract[i]
		c.runs++
		if nodes == fullSize {
			c.atFullSize++
		}
		if m.Stable != a.Stable || m.Failures != a.Failures || m.Broadcasts != a.Broadcasts || m.False > 0 {
			c.different++
			continue
		}
		c.apart = max(c.apart, m.First-a.First, a.First-m.First, m.All-a.All, a.All-m.All)
	}
}

// verdict is Agrees or Differs.
func verdict(agrees bool) report.Verdict {
	if agrees {
		return report.Agrees
	}
	return report.Differs
}

// number writes a value with so many significant digits as make sense.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }

// measured is a mean with its error.
func measured(s stabilisation.Spread, unit string) string {
	return fmt.Sprintf("%.4g ± %.2g%s", s.Mean, s.Error, unit)
}

// drawnRuns is how many runs of the machines make a point of a figure. The tables have all.
const drawnRuns = 10

// point is a mean with its confidence interval.
func point(n int, s stabilisation.Spread) report.Point {
	return report.Point{X: float64(n), Y: s.Mean, Low: s.Mean - s.Error, High: s.Mean + s.Error}
}
