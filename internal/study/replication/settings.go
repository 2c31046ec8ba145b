package replication

import (
	"time"

	"banyan/internal/fault"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/study/replication/pattern"
)

// Settings describe a job.
type Settings struct {
	Pattern pattern.Spec
	// Degree is how many replicas each rank has; 1 is a job without replicas.
	Degree int
	// Mirror makes all replicas of a sender send to all replicas of the receiver.
	Mirror bool
	// Printed is algorithm 1's way in the parallel protocol: each message is acknowledged at once,
	// and a send has ended when all replicas of its receiver have it. Jobs don't do that: with
	// blocking sends it would hang.
	Printed bool
	// Steps is how many steps each rank takes.
	Steps int
	// Compute is the computation of a step. Each time that a process computes, it takes longer by
	// a factor 1 + Jitter·x, with x exponentially distributed with mean 1.
	Compute proto.Time
	Jitter  float64
	Costs   Costs
	// Crashes kill processes: at a time, before their N-th send, or before their step N. They are
	// of a job with the same ranks and degree.
	Crashes []fault.Event
	// Detection is the time from a death until the others hear of it, at least the latency. Each
	// hears of it up to Spread later.
	Detection, Spread proto.Time
	// Healing replaces the dead. A replacement isn't killed by Crashes.
	Healing Healing
	// NoStamps leaves the causal stamps out of what messages weigh. Jobs send them, 4 bytes for
	// each rank with each message.
	NoStamps bool
	Seed     uint64
}

// Bounds of Settings.
const (
	MaxProcesses = 1 << 20
	MaxSteps     = 10_000_000
	MaxState     = 2 << 30 // bytes
	maxTime      = proto.Time(1000 * time.Second)
	// maxPairs bounds the channels between processes: each takes some 500 bytes.
	maxPairs = 6_000_000
)

// Validate says which setting is impossible. The fields are called as the command's flags.
func (s *Settings) Validate() error {
	switch {
	case s.Degree < 1 || s.Degree > layout.MaxDegree:
		return field.Errorf("replicas", "%d: want 1 to %d", s.Degree, layout.MaxDegree)
	case s.Pattern.Ranks > MaxProcesses/s.Degree:
		return field.Errorf("ranks", "%d of %d replicas: want at most %d processes", s.Pattern.Ranks, s.Degree, MaxProcesses)
	case s.Mirror && s.Printed:
		return field.Errorf("protocol", "mirror acknowledges nothing: it isn't the printed algorithm")
	case s.Steps < 1 || s.Steps > MaxSteps:
		return field.Errorf("steps", "%d: want 1 to %d", s.Steps, MaxSteps)
	case s.Compute < 0 || s.Compute > maxTime:
		return field.Errorf("compute", "%v: want 0 to 1000s", time.Duration(s.Compute))
	case !(s.Jitter >= 0 && s.Jitter <= 100):
		return field.Errorf("jitter", "%v: want 0 to 100", s.Jitter)
	}
	if err := s.Costs.Validate(); err != nil {
		return err
	}
	switch {
	case s.Detection < s.Costs.Latency || s.Detection > maxTime:
		return field.Errorf("detection", "%v: want the latency, %v, to 1000s", time.Duration(s.Detection), time.Duration(s.Costs.Latency))
	case s.Spread < 0 || s.Spread > maxTime:
		return field.Errorf("spread", "%v: want 0 to 1000s", time.Duration(s.Spread))
	}
	if h := &s.Healing; h.After != 0 {
		switch {
		case h.After < s.Detection+s.Spread || h.After > maxTime:
			return field.Errorf("heal-after", "%v: want the time until all have heard of a death, %v, to 1000s", time.Duration(h.After), time.Duration(s.Detection+s.Spread))
		case h.State < 0 || h.State > MaxState:
			return field.Errorf("state", "%d bytes: want 0 to %d", h.State, int64(MaxState))
		case s.Printed:
			return field.Errorf("heal-after", "the printed protocol replaces nobody")
		}
	}
	for _, e := range s.Crashes {
		if e.Action != fault.Kill {
			return field.Errorf("crash", "%v: only kill is simulated", e)
		}
	}
	return nil
}
