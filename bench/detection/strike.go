package detection

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// Where says which members are struck together.
type Where string

// Places of several victims.
const (
	Anywhere   Where = "random"     // drawn from all members
	Neighbours Where = "neighbours" // each further one is observed by the one before it
	WholeHost  Where = "host"       // all members of a host
)

// Wheres are all places.
var Wheres = []Where{Anywhere, Neighbours, WholeHost}

// Strike says whom a fault hits.
type Strike struct {
	// Victims are how many members are struck; 0 is one.
	Victims int   `json:"victims"`
	Where   Where `json:"where"` // "" is random
	// Apart is the time from one victim to the next; 0 strikes all at once.
	Apart time.Duration `json:"apart"`
	// HostSize is how many members share a host, as Banyan is told: the ring then alternates
	// between hosts. All members are on this machine nevertheless. 0: all share one.
	HostSize int `json:"host_size"`
}

// victims is how many members are struck.
func (s *Strike) victims() int { return max(1, s.Victims) }

// where says how the victims were chosen.
func (s *Strike) where() Where {
	if s.Where == "" {
		return Anywhere
	}
	return s.Where
}

// bound is theorem 1's T(f) of Banyan's detector without the time of its messages, which only makes
// it longer: f(f+1)δ.
func (s *Setting) bound() time.Duration {
	f := time.Duration(s.victims())
	return f * (f + 1) * s.Timeout
}

func (s *Setting) checkStrike() error {
	f := s.victims()
	switch {
	case s.Victims < 0 || s.Fault != None && f > 1 && 2*f >= s.N:
		return fmt.Errorf("--victims %d: want fewer than half of the %d members: the rest must be a quorum", s.Victims, s.N)
	case s.Fault == None && f > 1:
		return errors.New("--victims: without a fault there are none")
	case s.Fault == Partition && f > 1:
		return errors.New("--victims: several members can be killed or stopped, not cut off")
	case s.Where != "" && !slices.Contains(Wheres, s.Where):
		return fmt.Errorf("--where %q: there are %s", s.Where, list(Wheres))
	case s.Apart < 0 || s.Apart > time.Minute:
		return fmt.Errorf("--apart %v: between 0 and 1m", s.Apart)
	case s.HostSize < 0 || s.HostSize > s.N:
		return fmt.Errorf("--host-size %d: between 0 and the %d members", s.HostSize, s.N)
	case s.HostSize > 0 && s.System == Banyan:
		return errors.New("--host-size: needs --bare: the launcher knows that all members are on one host")
	case s.Where == WholeHost && s.HostSize == 0:
		return errors.New("--where host: say with --host-size how many members share a host")
	case s.Where == WholeHost && f%s.HostSize != 0:
		return fmt.Errorf("--victims %d: whole hosts of %d members are struck: want a multiple", f, s.HostSize)
	}
	return nil
}

// hosts are the hosts of the members, as Banyan is told.
func (s *Setting) hosts() []int32 {
	hosts := make([]int32, s.N)
	for i := range hosts {
		if s.HostSize > 0 {
			hosts[i] = int32(i / s.HostSize)
		}
	}
	return hosts
}

// choose draws the victims from candidates. It returns nil if they don't suffice.
func (s *Setting) choose(rng *rand.Rand, candidates []int) []int {
	f := s.victims()
	fit := func(all []int) bool {
		for _, v := range all {
			if !slices.Contains(candidates, v) {
				return false
			}
		}
		return true
	}
	if s.Where == "" || s.Where == Anywhere {
		if len(candidates) < f {
			return nil
		}
		drawn := slices.Clone(candidates)
		rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		return drawn[:f]
	}
	ring := topology.InterleavedRing(s.hosts())
	for _, first := range rng.Perm(s.N) {
		group := []int{first}
		for v := first; len(group) < f; {
			if s.Where == Neighbours {
				v = int(ring.Prev(proto.Proc(v)))
			} else {
				v = (v + 1) % s.N
			}
			group = append(group, v)
		}
		if s.Where == WholeHost && (first%s.HostSize != 0 || first+f > s.N) {
			continue
		}
		if fit(group) {
			return group
		}
	}
	return nil
}
