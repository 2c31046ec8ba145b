package detection

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Plan is what to measure: every system with every number of members and every
// time-out, as often as Runs says.
type Plan struct {
	Setting  // what is the same for all
	Systems  []System
	N        []int
	Timeouts []time.Duration
	Victims  []int // nil: one
	Runs     int
	// Seed draws the victims, the same ones for all systems.
	Seed uint64
	// Again is how to start this program so that it calls Perform.
	Again []string
}

// Size returns how many runs a plan has.
func (p *Plan) Size() int { return p.Runs * len(p.settings()) }

// settings returns all settings in their order. Systems are next to each other, so that they meet
// the machine in the same state.
func (p *Plan) settings() (all []Setting) {
	for _, n := range p.N {
		for _, timeout := range p.Timeouts {
			for _, victims := range p.victims() {
				for _, system := range p.Systems {
					s := p.Setting
					s.N, s.Timeout, s.System, s.Victims = n, timeout, system, victims
					all = append(all, s)
				}
			}
		}
	}
	return all
}

func (p *Plan) victims() []int {
	if len(p.Victims) == 0 {
		return []int{1}
	}
	return p.Victims
}

// Check returns an error for a plan that can't be carried out.
func (p *Plan) Check() error {
	if p.Runs < 1 {
		return errors.New("--runs: one at least")
	}
	if p.Fault == Partition {
		if err := checkNetwork(); err != nil {
			return err
		}
	}
	for _, s := range p.settings() {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// Run carries a plan out, round by round, and passes each row on. When a run fails, the others go
// on: its error is returned with the others at the end, and its setting isn't tried again. The
// end of ctx ends Run.
func (p *Plan) Run(ctx context.Context, each func(Row) error) error {
	var failures []error
	hopeless := make(map[Setting]bool)
	rng := rand.New(rand.NewPCG(p.Seed, 0))
	for run := range p.Runs {
		seed := rng.Uint64()
		for _, s := range p.settings() {
			if hopeless[s] {
				continue
			}
			row, err := Once(ctx, s, p.Again, seed)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failures, hopeless[s] = append(failures, err), true
				continue
			}
			row.Run = run
			if err := each(row); err != nil {
				return err
			}
		}
	}
	return errors.Join(failures...)
}
