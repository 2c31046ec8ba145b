package membership

import (
	"context"

	"banyan/internal/proto"
	"banyan/internal/study/driver/viewsim"
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
}

// part is what one study contributes to the report.
type part struct {
	claims  []report.Claim
	section report.Section
}

// Run simulates everything and returns the report. When ctx ends it stops early and
// returns its error.
func Run(ctx context.Context, p Parameters, progress Progress) (*report.Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	e := &experiment{p, ctx, progress}
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
	return c.Run(e.ctx, func(done int) { e.progress(step, done, runs) })
}

func seconds(t proto.Time) risk.Seconds { return risk.Seconds(t) * ns }

// verdict is Agrees or Differs.
func verdict(agrees bool) report.Verdict {
	if agrees {
		return report.Agrees
	}
	return report.Differs
}
