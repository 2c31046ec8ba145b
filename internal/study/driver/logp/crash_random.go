package logp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/fault"
	"banyan/internal/proto"
)

// CrashRandom adds count random crashes of processes other than the root that are neither dead
// nor to crash so far. Each crashes at a step from 0 to until, all equally likely. The same
// source gives the same crashes.
func (c *Case) CrashRandom(count int, until proto.Time, source rand.Source) error {
	taken := NewSet(c.Procs)
	for _, f := range c.Failed {
		taken.Add(f)
	}
	for _, crash := range c.Crashes {
		taken.Add(crash.Proc)
	}
	live := c.Procs - 1 - taken.Len()
	if count < 0 || count > live {
		return fmt.Errorf("%d: want 0 to %d", count, live)
	}
	if count == 0 {
		return nil
	}
	left := c.left(taken, live, count)
	random := rand.New(source)
	c.Crashes = slices.Clone(c.Crashes)
	for i := range count {
		process := left.draw(i, i+random.IntN(live-i))
		at := fault.Trigger{Kind: fault.AtStep, N: random.Int64N(int64(until) + 1)}
		c.Crashes = append(c.Crashes, Crash{process, at})
	}
	return nil
}

// Undisturbed is how long a case takes, until quiescence, if no process is dead or dies. It
// sets all seeds to 0, so it is the same for cases that differ only in these and in their
// failures.
func (s *Simulator) Undisturbed(c Case) (proto.Time, error) {
	c.Failed, c.Crashes = nil, nil
	c.Gossip.Seed, c.Model.NoiseSeed, c.Model.Nodes.Seed = 0, 0, 0
	o, err := s.Run(&c, nil)
	return o.Quiescence, err
}
