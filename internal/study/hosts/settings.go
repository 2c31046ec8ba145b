package hosts

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/steward"
	"banyan/internal/study/field"
)

// Second is a second in the unit of all times, the nanosecond.
const Second proto.Time = 1_000_000_000

// MaxHosts is how many hosts may be simulated.
const MaxHosts = 16_384

// Fault is what happens in a run.
type Fault uint8

// Faults.
const (
	Start   Fault = iota // nothing: the agents are started
	Host                 // a host dies that isn't the steward's
	Rack                 // all hosts of a rack die at the same time, but not the steward's rack
	Steward              // the steward's host dies
	Console              // the console's machine dies
)

var faultNames = [...]string{"start", "host", "rack", "steward", "console"}

func (f Fault) String() string { return faultNames[f] }

// ParseFault reads a fault's name.
func ParseFault(text string) (Fault, error) {
	for i, name := range faultNames {
		if name == text {
			return Fault(i), nil
		}
	}
	return 0, fmt.Errorf("unknown fault %q: want start, host, rack, steward or console", text)
}

// Settings say what a run is. Times are in nanoseconds.
type Settings struct {
	Hosts  int
	Rack   int // hosts of a rack
	Fault  Fault
	Voters int // at most; odd numbers are best
	// Continue says that the job goes on when the console is lost.
	Continue          bool
	Latency, Overhead proto.Time
	Lease, Margin     proto.Time
	Renew, Patience   proto.Time
	Drift             int64      // clocks are wrong by so many millionths at most
	Fanout            int        // children in the trees
	Fork              proto.Time // for an agent to begin the start of one child
	Start             proto.Time // from then until the child's agent is there
}

// Defaults are the settings of real jobs, on a network of 10 Gbit/s Ethernet's times.
func Defaults() Settings {
	c := steward.Defaults(Second)
	return Settings{
		Hosts: 1024, Rack: 32, Fault: Host, Voters: steward.MaxVoters, Latency: Second / 20_000, Overhead: Second / 100_000,
		Lease: c.Lease, Margin: c.Margin, Renew: c.Renew, Patience: c.Patience, Drift: c.Drift,
		Fanout: 32, Fork: Second / 100, Start: 3 * Second / 10,
	}
}

// config is that of a host.
func (s *Settings) config(h int) steward.Config {
	c := steward.Defaults(Second)
	c.Self, c.Domain = steward.Host(h), int32(h/s.Rack)
	c.Lease, c.Margin, c.Renew, c.Patience, c.Stagger = s.Lease, s.Margin, s.Renew, s.Patience, 2*s.Renew
	c.Voters, c.Drift, c.GiveUp = s.Voters, s.Drift, 6*s.Lease
	return c
}

// Validate returns a *field.Error for what makes no sense.
func (s *Settings) Validate() error {
	switch {
	case s.Hosts < 2 || s.Hosts > MaxHosts:
		return field.Errorf("hosts", "%d: want 2 to %d", s.Hosts, MaxHosts)
	case s.Rack < 1 || s.Rack > MaxHosts:
		return field.Errorf("rack", "%d: want 1 to %d hosts", s.Rack, MaxHosts)
	case s.Fault == Rack && s.Rack >= s.Hosts:
		return field.Errorf("rack", "%d: want fewer than all %d hosts, if one dies", s.Rack, s.Hosts)
	case s.Voters < 1 || s.Voters > 1024:
		return field.Errorf("voters", "%d: want 1 to 1024", s.Voters)
	case s.Fanout < 1 || s.Fanout > MaxHosts:
		return field.Errorf("fanout", "%d: want 1 to %d", s.Fanout, MaxHosts)
	case s.Fault == Steward && s.Hosts == 2:
		return field.Errorf("fault", "of two hosts only the steward's goes on alone: want three hosts or more")
	}
	for _, x := range []struct {
		name  string
		value proto.Time
		least proto.Time
	}{
		{"latency", s.Latency, 0}, {"overhead", s.Overhead, 1}, {"fork", s.Fork, 0}, {"start", s.Start, 0}, {"patience", s.Patience, 1},
	} {
		if x.value < x.least || x.value > 1000*Second {
			return field.Errorf(x.name, "%d ns: want %d ns to 1000 s", x.value, x.least)
		}
	}
	c := s.config(0)
	if err := c.Validate(); err != nil {
		return field.Errorf("lease", "%w", err)
	}
	return nil
}
