package stabilisation

import (
	"math/bits"

	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/topology"
)

// Settings say what is simulated. Times are in nanoseconds.
type Settings struct {
	Nodes   int
	Period  proto.Time // η
	Timeout proto.Time // δ
	Tau     proto.Time // τ
	Fixed   bool       // each message takes τ, not a time drawn from (0, τ]
	Order   Order
	// HostSize is how many nodes share a host: 0…HostSize-1 the first, and so on.
	HostSize int
	// Together has all nodes start at one time, as after a barrier, and the first failure strike
	// right after a heartbeat of all. Otherwise it strikes in a random phase of each.
	Together bool
	// Trigger has the observer of a node know of its failure at once, as if by evidence: what
	// remains is the broadcast. No two victims are neighbours then. Only [Machines] can do it.
	Trigger bool

	Law Law
	// Neighbours has each failure but the first strike the node before the last victim on the
	// ring, which is the worst for its observer. For Forced and Paced.
	Neighbours bool
	// Failures is how many are forced. For Forced and Paced.
	Failures int
	// Within is the window in which forced failures strike after the first.
	Within proto.Time
	// Gap is the mean time between two failures. For Paced.
	Gap proto.Time
	// MTBF is the mean time between failures of one node, μ. For Exponential.
	MTBF proto.Time
}

// Order is that of the ring.
type Order uint8

// Orders of the ring.
const (
	ByRank      Order = iota
	Interleaved       // neighbours on different hosts
)

// Law says which nodes fail when. In each the first fails at time 0, and all victims are
// drawn evenly from the live nodes, unless it says otherwise.
type Law uint8

// Laws of failures.
const (
	// Forced failures strike at times drawn evenly from a window.
	Forced Law = iota
	// Paced failures strike one after the other, after exponentially distributed gaps, up to a
	// number.
	Paced
	// Exponential failures strike with the rate n/μ until all are known to all.
	Exponential
	// WholeHost is the failure of all nodes of a host at once.
	WholeHost
)

// Limits of a simulation.
const (
	MaxNodes = 1 << 22
	// MaxTime bounds every setting that is a time, so that sums don't overflow: 73 years.
	MaxTime = proto.Never / 4
	// maxFailures is the number of failures after which a run is given up, since they come faster
	// than news of them can spread.
	maxFailures = 1000
)

// Validate returns a *field.Error for a setting that makes no sense.
func (s *Settings) Validate() error {
	for _, t := range []struct {
		field string
		time  proto.Time
		used  bool
	}{
		{"period", s.Period, true},
		{"timeout", s.Timeout, true},
		{"tau", s.Tau, true},
		{"within", s.Within, s.Law == Forced && s.Failures > 1},
		{"gap", s.Gap, s.Law == Paced},
		{"mtbf", s.MTBF, s.Law == Exponential},
	} {
		if t.used && (t.time < 1 || t.time > MaxTime) {
			return field.Errorf(t.field, "want more than 0, and 73 years at most")
		}
	}
	if s.Nodes < 2 || s.Nodes > MaxNodes {
		return field.Errorf("nodes", "%d: want 2 to %d", s.Nodes, MaxNodes)
	}
	if s.Period < 3*s.Tau {
		return field.Errorf("period", "want 3τ at least, for other messages to find room between two heartbeats")
	}
	if s.Timeout <= s.Period+s.Tau {
		return field.Errorf("timeout", "want more than η + τ, or live nodes are suspected")
	}
	if s.HostSize < 1 || s.HostSize > s.Nodes {
		return field.Errorf("host-size", "%d: want 1 to %d, the number of nodes", s.HostSize, s.Nodes)
	}
	if s.Neighbours && s.Law != Forced && s.Law != Paced {
		return field.Errorf("neighbours", "only failures that are forced can strike neighbours")
	}
	if s.Trigger && (s.Neighbours || s.Law != Forced || 3*s.Failures > s.Nodes) {
		return field.Errorf("trigger", "want forced failures apart on the ring, of a third of the nodes at most")
	}
	switch s.Law {
	case Forced, Paced:
		if most := min(s.Nodes, maxFailures) - 1; s.Failures < 1 || s.Failures > most {
			return field.Errorf("failures", "%d: want 1 to %d", s.Failures, most)
		}
	case WholeHost:
		if most := min(s.Nodes, maxFailures) - 1; s.HostSize > most {
			return field.Errorf("host-size", "%d: a whole host of at most %d can fail", s.HostSize, most)
		}
	case Exponential:
	default:
		return field.Errorf("law", "there is no such law")
	}
	return nil
}

// MostFailures is ⌊log2 n⌋ - 1, the most overlapping failures of theorem 1.
func (s *Settings) MostFailures() int { return bits.Len(uint(s.Nodes)) - 2 }

// ring makes the ring.
func (s *Settings) ring() *topology.Ring {
	if s.Order == ByRank || s.HostSize == 1 {
		return topology.IdentityRing(s.Nodes)
	}
	hosts := make([]int32, s.Nodes)
	for i := range hosts {
		hosts[i] = int32(i / s.HostSize)
	}
	return topology.InterleavedRing(hosts)
}
