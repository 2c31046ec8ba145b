package viewsim

import (
	"context"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/study/parallel"
)

// Run plays one run. The same settings and seed give the same outcome. It returns a
// *field.Error for settings that make no sense.
func Run(s Settings, seed uint64) (Outcome, error) {
	if err := s.Validate(); err != nil {
		return Outcome{}, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	if s.Protocol != Banyan {
		return playPaper(&s, random), nil
	}
	return playBanyan(&s, random), nil
}

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
		outcomes[run], err = c.Play(run)
		return err
	})
	return outcomes, err
}

// Play plays one of the runs.
func (c *Campaign) Play(run int) (Outcome, error) {
	return Run(c.Settings, parallel.Seed(c.Seed, c.Nodes, run))
}

// Summary describes the outcomes of a campaign. Times are means and maxima of the runs in which
// all agreed.
type Summary struct {
	Runs, Agreed, Collided, Waits int

	Stable, Installed       float64
	MostStable, MostInstall proto.Time
	Views                   float64
	Propose, Ack, Commit    float64
	Takeover, Other         float64
	Bytes, WholeBytes       float64
}

// Summarise describes outcomes.
func Summarise(outcomes []Outcome) Summary {
	m := Summary{Runs: len(outcomes)}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Collided {
			m.Collided++
		}
		if o.Waits {
			m.Waits++
		}
		if !o.Agreed {
			continue
		}
		m.Agreed++
		m.MostStable, m.MostInstall = max(m.MostStable, o.Stable), max(m.MostInstall, o.Installed)
		m.Stable += float64(o.Stable)
		m.Installed += float64(o.Installed)
		m.Views += float64(o.Views)
		m.Propose += float64(o.Traffic.Propose)
		m.Ack += float64(o.Traffic.Ack)
		m.Commit += float64(o.Traffic.Commit)
		m.Takeover += float64(o.Traffic.Takeover)
		m.Other += float64(o.Traffic.Other)
		m.Bytes += float64(o.Bytes)
		m.WholeBytes += float64(o.WholeBytes)
	}
	if m.Agreed > 0 {
		for _, sum := range []*float64{&m.Stable, &m.Installed, &m.Views, &m.Propose, &m.Ack, &m.Commit, &m.Takeover, &m.Other, &m.Bytes, &m.WholeBytes} {
			*sum /= float64(m.Agreed)
		}
	}
	return m
}
