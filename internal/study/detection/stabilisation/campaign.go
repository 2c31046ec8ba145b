package stabilisation

import (
	"context"

	"banyan/internal/study/field"
	"banyan/internal/study/parallel"
)

// Engine plays scenarios of its settings, one at a time. It gives up, with an
// error, when the context ends.
type Engine interface {
	Run(context.Context, *Scenario) (Outcome, error)
}

// EngineKind is a kind of engine.
type EngineKind uint8

// Kinds of engines.
const (
	Abstract EngineKind = iota // the [Abstraction]
	Machine                    // the detector's machines, [Machines]
)

// New makes an engine for valid settings.
func (k EngineKind) New(s *Settings) Engine {
	if k == Machine {
		return NewMachines(s)
	}
	return NewAbstraction(s)
}

// Campaign is many runs of the same settings, with other failures in each.
type Campaign struct {
	Settings
	Engine  EngineKind
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

// RunSeed is the seed of a run's scenario. It doesn't depend on the engine.
func (c *Campaign) RunSeed(run int) uint64 { return parallel.Seed(c.Seed, c.Nodes, run) }

// Run plays all runs and returns their outcomes in order. done is called with how many are over;
// it may be nil.
func (c *Campaign) Run(ctx context.Context, done func(runs int)) ([]Outcome, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, c.Runs)
	play := c.Player(ctx)
	err := parallel.Each(ctx, c.Runs, c.Workers, done, func(worker, run int) (err error) {
		outcomes[run], err = play(worker, run)
		return err
	})
	return outcomes, err
}

// Player returns a function that plays one of the runs, for callers that choose which. Workers,
// from 0 on, may call it at the same time. The campaign must be valid.
func (c *Campaign) Player(ctx context.Context) func(worker, run int) (Outcome, error) {
	engines := make([]Engine, c.Workers)
	return func(worker, run int) (Outcome, error) {
		if engines[worker] == nil {
			engines[worker] = c.Engine.New(&c.Settings)
		}
		return engines[worker].Run(ctx, NewScenario(&c.Settings, c.RunSeed(run)))
	}
}
