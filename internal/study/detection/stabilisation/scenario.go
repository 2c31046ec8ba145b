package stabilisation

import (
	"math/rand/v2"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/study/parallel"
	"banyan/internal/topology"
)

// Failure is the death of a node, at a time since the first failure.
type Failure struct {
	At   proto.Time
	Node proto.Proc
}

// Scenario is one run: which nodes fail when, and when each sends its heartbeats. Both
// engines play it alike.
type Scenario struct {
	*Settings
	Seed  uint64
	rng   *rand.Rand
	drawn []Failure // in the order of time; those forced are drawn at once
}

// NewScenario draws a run of valid settings.
func NewScenario(s *Settings, seed uint64) *Scenario {
	c := &Scenario{Settings: s, Seed: seed, rng: rand.New(rand.NewPCG(seed, 0))}
	switch s.Law {
	case WholeHost:
		whole := s.Nodes / s.HostSize // a last host that is smaller is left alone
		first := c.rng.IntN(whole) * s.HostSize
		for i := range s.HostSize {
			c.drawn = append(c.drawn, Failure{0, proto.Proc(first + i)})
		}
	case Forced:
		times := make([]proto.Time, s.Failures)
		for i := range times[1:] {
			times[i+1] = 1 + proto.Time(c.rng.Int64N(int64(s.Within)))
		}
		slices.Sort(times)
		for _, t := range times {
			c.drawn = append(c.drawn, Failure{t, c.victim()})
		}
	default:
		c.drawn = append(c.drawn, Failure{0, c.victim()})
	}
	return c
}

// Failure is the i-th one, if there is one. Those before it have been asked for.
func (c *Scenario) Failure(i int) (f Failure, ok bool) {
	for i >= len(c.drawn) {
		last := c.drawn[len(c.drawn)-1].At
		var mean float64
		switch {
		case c.Law == Paced && i < c.Failures:
			mean = float64(c.Gap)
		case c.Law == Exponential && i < c.Nodes-1:
			mean = float64(c.MTBF) / float64(c.Nodes)
		default:
			return Failure{}, false
		}
		gap := min(c.rng.ExpFloat64()*mean, float64(MaxTime))
		c.drawn = append(c.drawn, Failure{min(last+1+proto.Time(gap), MaxTime), c.victim()})
	}
	return c.drawn[i], true
}

// forced says whether a run only ends when a number of failures has struck.
func (c *Scenario) forced() bool { return c.Law != Exponential }

// victim draws a node that isn't to fail yet.
func (c *Scenario) victim() proto.Proc {
	ring := topology.IdentityRing(0)
	if c.Neighbours || c.Trigger {
		ring = c.ring()
	}
	if n := len(c.drawn); c.Neighbours && n > 0 {
		return ring.Prev(c.drawn[n-1].Node)
	}
	for {
		p := proto.Proc(c.rng.IntN(c.Nodes))
		if !slices.ContainsFunc(c.drawn, func(f Failure) bool {
			return f.Node == p || c.Trigger && (ring.Next(f.Node) == p || ring.Prev(f.Node) == p)
		}) {
			return p
		}
	}
}

// Phase is when a node's first heartbeat goes out, in [0, η). The first failure
// strikes when all beat, so at a random phase of each, unless they started Together.
func (c *Scenario) Phase(p proto.Proc) proto.Time {
	if c.Together {
		return 0
	}
	return proto.Time(parallel.Seed(c.Seed, int(p)) % uint64(c.Period))
}

// Onset is when the first failure strikes, on the clock on which the phases are given.
func (c *Scenario) Onset() proto.Time { return 2*c.Period + 4*c.Tau }

// patience is how long after the last of so many failures a run is given up: twice
// theorem 1's bound.
func (c *Scenario) patience(failures int) proto.Time {
	f := proto.Time(failures)
	bound := 2 * float64(f*(f+1)) * float64(c.Timeout+4*c.Tau*proto.Time(c.MostFailures()+2))
	return proto.Time(min(bound, float64(MaxTime)))
}
