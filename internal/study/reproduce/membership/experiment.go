package membership

import (
	"context"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/pieces"
	"banyan/internal/study/planning/risk"
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

// part is what one study contributes to the report.
type part struct {
	claims  []report.Claim
	section report.Section
}

// Run simulates everything and returns the report. When ctx ends it stops early and returns its
// error. What is finished is kept in a store, which may be nil: one of [Open].
func Run(ctx context.Context, store *pieces.Store, p Parameters, progress Progress) (*report.Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	e := &experiment{p, ctx, progress, store}
	var parts []part
	for _, study := range []func() (part, error){e.studyTorus, e.studyContention, e.studySwitch, e.studyScale, e.studyProtocol} {
		q, err := study()
		if err != nil {
			return nil, err
		}
		parts = append(parts, q)
	}
	return e.report(parts), nil
}

// campaign runs settings so often.
func (e *experiment) campaign(step string, s viewsim.Settings, runs int) ([]viewsim.Outcome, error) {
	c := viewsim.Campaign{Settings: s, Runs: runs, Seed: e.Seed, Workers: e.Workers}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	shown := s
	shown.Hops = nil // the step says it
	what := fmt.Sprintf("%s %+v", step, shown)
	return pieces.Each(e.ctx, e.store, what, runs, e.Workers, func(done int) { e.progress(step, done, runs) }, func(_, run int) (viewsim.Outcome, error) {
		return c.Play(run)
	})
}

func seconds(t proto.Time) risk.Seconds { return risk.Seconds(t) * ns }

// verdict is Agrees or Differs.
func verdict(agrees bool) report.Verdict {
	if agrees {
		return report.Agrees
	}
	return report.Differs
}
