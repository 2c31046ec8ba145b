package steward

import (
	"fmt"

	"banyan/internal/proto"
)

// MaxVoters is how many hosts vote, unless Config.Voters says otherwise: three of them may be lost
// at the same time.
const MaxVoters = 7

// Config says which party it is, and its times.
type Config struct {
	Self   Host
	Domain int32 // hosts that may fail together have the same
	// Lease is how long a lease runs, from when it was asked for.
	Lease proto.Time
	// Margin is how much longer than Lease an agent must have been granted nothing before it counts
	// as lost. It covers clocks that run at different rates, and the time that killing takes.
	Margin proto.Time
	// Renew is how often an agent asks for a new lease.
	Renew proto.Time
	// Patience is how long a steward may be silent before the first voter after it takes over, and
	// Stagger how much longer the next one waits.
	Patience, Stagger proto.Time
	// GiveUp is how long an agent waits for a lease before it ends. One that has a lease waits
	// twice as long for somebody who leads.
	GiveUp proto.Time
	// Gather is how long a steward gathers reports before it writes them to the ledger.
	Gather proto.Time
	// Voters is how many hosts vote at most; 0: MaxVoters.
	Voters int
	// Drift is how many millionths faster or slower than real time a clock may run.
	Drift int64
}

// Defaults are the times of real jobs, when a second has so many units.
func Defaults(second proto.Time) Config {
	return Config{
		Lease: 5 * second, Margin: second / 2, Renew: second / 2, Patience: second, Stagger: second,
		GiveUp: 30 * second, Gather: second / 200, Drift: 1000,
	}
}

// Validate says what is wrong with a Config.
func (c *Config) Validate() error {
	for _, x := range []struct {
		name        string
		value, from proto.Time
	}{
		{"lease", c.Lease, 1}, {"margin", c.Margin, 0}, {"renew", c.Renew, 1}, {"patience", c.Patience, 1}, {"stagger", c.Stagger, 0},
		{"give up", c.GiveUp, 1}, {"gather", c.Gather, 0}, {"drift", proto.Time(c.Drift), 0},
	} {
		if x.value < x.from || x.value > maxSpan {
			return fmt.Errorf("%s: %d: want %d to %d", x.name, x.value, x.from, maxSpan)
		}
	}
	switch {
	case c.Renew > c.Lease/2:
		return fmt.Errorf("renew: %d: want half of the lease, %d, or less", c.Renew, c.Lease/2)
	case c.Drift >= million:
		return fmt.Errorf("drift: %d: want less than %d", c.Drift, million)
	case c.Margin < c.LeastMargin():
		return fmt.Errorf("margin: %d: want %d or more, since clocks may differ by %d millionths", c.Margin, c.LeastMargin(), c.Drift)
	case c.Voters < 0:
		return fmt.Errorf("voters: %d: want 0 or more", c.Voters)
	}
	return nil
}

const (
	maxSpan = proto.Time(1) << 50
	million = 1_000_000
)

// LeastMargin is the least Margin with which the clocks alone can't make a verdict wrong.
//
// An agent's lease takes Lease/(1-ρ) of real time at most. A voter's age a and the time e that the
// answer took say that nothing was granted for a/(1+ρ) - e/(1-ρ) of real time before the question.
// With a - e = Lease + Margin and e ≤ Renew the latter isn't less than the former if
// Margin·(1-ρ) ≥ 2ρ·(Lease + Renew).
func (c *Config) LeastMargin() proto.Time {
	rest := proto.Time(million - c.Drift)
	return ceil(2*(c.Lease+c.Renew), proto.Time(c.Drift), rest)
}

// ceil is x·y/z, rounded up, without overflow for spans.
func ceil(x, y, z proto.Time) proto.Time {
	whole, part := x/z, x%z
	return whole*y + (part*y+z-1)/z
}

func (c *Config) voters() int {
	if c.Voters == 0 {
		return MaxVoters
	}
	return c.Voters
}
