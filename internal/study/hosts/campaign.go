package hosts

import (
	"context"

	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/study/parallel"
)

// Campaign is many runs of the same settings, each with its own draws.
type Campaign struct {
	Settings
	Runs    int
	Seed    uint64
	Workers int // runs at a time; the outcomes don't depend on it
}

// Validate returns a *field.Error for what makes no sense.
func (c *Campaign) Validate() error {
	if c.Runs < 1 {
		return field.Errorf("runs", "%d: want 1 at least", c.Runs)
	}
	if c.Workers < 1 {
		return field.Errorf("workers", "%d: want 1 at least", c.Workers)
	}
	return c.Settings.Validate()
}

// Run plays all runs and returns their outcomes in order. done is called with how many are over;
// it may be nil.
func (c *Campaign) Run(ctx context.Context, done func(runs int)) ([]Outcome, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, c.Runs)
	err := parallel.Each(ctx, c.Runs, c.Workers, done, func(_, run int) (err error) {
		outcomes[run], err = Run(c.Settings, parallel.Seed(c.Seed, c.Hosts, run))
		return err
	})
	return outcomes, err
}

// Span is the mean and the longest of the times of many runs.
type Span struct {
	Mean float64
	Most proto.Time
	Runs int // that have reached it
}

// Summarise describes one time of all outcomes.
func Summarise(outcomes []Outcome, time func(o *Outcome) proto.Time) Span {
	var s Span
	for i := range outcomes {
		if t := time(&outcomes[i]); t != proto.Never {
			s.Runs++
			s.Mean += float64(t)
			s.Most = max(s.Most, t)
		}
	}
	if s.Runs > 0 {
		s.Mean /= float64(s.Runs)
	}
	return s
}
