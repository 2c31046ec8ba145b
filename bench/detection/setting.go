package detection

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// System is a failure detector with its settings.
type System string

// The systems. See memberlistConfig for what the peer's names stand for.
const (
	Banyan            System = "banyan"
	BanyanBare        System = "banyan-bare" // started without a launcher that could tell of deaths
	Memberlist        System = "memberlist"
	MemberlistMatched System = "memberlist-matched"
	MemberlistFloor   System = "memberlist-floor"
	MemberlistSwim    System = "memberlist-swim" // without gossip's extra channel
)

// Peers are the systems to compare with.
var Peers = []System{Memberlist, MemberlistMatched, MemberlistFloor, MemberlistSwim}

// ListPeers names them.
func ListPeers() string { return list(Peers) }

func (s System) isBanyan() bool { return s == Banyan || s == BanyanBare }

// Fault is what happens to a member.
type Fault string

// The faults.
const (
	None      Fault = "none"
	Kill      Fault = "kill"      // SIGKILL
	Stop      Fault = "stop"      // SIGSTOP: it lives, and is silent
	Partition Fault = "partition" // its link is cut: it lives and sends, and no member receives it
)

// Faults are all faults.
var Faults = []Fault{None, Kill, Stop, Partition}

// MaxMembers bounds the members of a run.
const MaxMembers = 1024

// Setting is one thing to measure.
type Setting struct {
	System  System        `json:"system"`
	N       int           `json:"n"`
	Period  time.Duration `json:"period"`  // η; the peer's probe interval
	Timeout time.Duration `json:"timeout"` // δ; see memberlistConfig
	Fault   Fault         `json:"fault"`
	// Quiet is how long the members are watched before the fault: messages,
	// processor time and false suspicions are counted then.
	Quiet time.Duration `json:"quiet"`
	// Load is how many processes compute beside the members all the time.
	Load int `json:"load"`
	// Compute has every member compute without ever calling its library.
	Compute bool `json:"compute"`
	Strike
}

// check returns an error for a setting that makes no sense.
func (s *Setting) check() error {
	switch {
	case s.N < 2 || s.N > MaxMembers:
		return fmt.Errorf("-n %d: between 2 and %d members", s.N, MaxMembers)
	case s.Fault != None && s.N < 3:
		return fmt.Errorf("-n %d: with a fault there are at least 3 members", s.N)
	case s.Period < time.Millisecond:
		return fmt.Errorf("--period %v: at least 1ms", s.Period)
	case s.Timeout < 2*s.Period:
		return fmt.Errorf("--timeout %v: at least twice the period (%v)", s.Timeout, s.Period)
	case s.Timeout > time.Minute:
		return fmt.Errorf("--timeout %v: at most a minute", s.Timeout)
	case !slices.Contains(Faults, s.Fault):
		return fmt.Errorf("--fault %q: there are %s", s.Fault, list(Faults))
	case s.System != Banyan && s.System != BanyanBare && !slices.Contains(Peers, s.System):
		return fmt.Errorf("--peer %q: there are %s", s.System, list(Peers))
	case s.Quiet < 0 || s.Quiet > 24*time.Hour:
		return fmt.Errorf("--duration %v: between 0 and 24h", s.Quiet)
	case s.Load < 0 || s.Load > 1024:
		return fmt.Errorf("--load %d: between 0 and 1024 processes", s.Load)
	}
	return s.checkStrike()
}

func list[T ~string](all []T) string {
	var s []string
	for _, x := range all {
		s = append(s, string(x))
	}
	return strings.Join(s, ", ")
}

// limit is how long a fault may take to become known to all. After that the run counts as one in
// which it didn't; either system needs far less.
func (s *Setting) limit() time.Duration {
	more := time.Duration(s.victims()-1) * s.Apart
	if s.System.isBanyan() {
		return max(10*s.Timeout, 2*s.bound()) + 5*time.Second + more
	}
	// Its own bound, when no other member confirms, is 6 suspicion time-outs after the first
	// failed probe.
	c := memberlistConfig(s)
	suspicion := time.Duration(float64(c.SuspicionMult)*nodeScale(s.N)) * s.Period
	limit := 10*s.Period + 2*time.Duration(c.SuspicionMaxTimeoutMult)*suspicion + 5*time.Second + more
	if s.System == MemberlistSwim { // each may have to find out by its own probes, which go round
		limit += 2 * time.Duration(s.N) * s.Period
	}
	return limit
}
