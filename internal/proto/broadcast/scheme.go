package broadcast

import (
	"errors"
	"fmt"
	"math/bits"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// A Scheme is a tree, or gossip, with a correction: what the user of a job may name for its
// broadcasts. It fits any number of members; Config gives what one number of them runs.
type Scheme struct {
	Tree      TreeKind // "": there is no scheme
	K         int      // children in a k-ary tree, order of a Lamé tree; else 0
	Latency   int      // L and o of an optimal tree, in any unit; else 0
	Overhead  int
	Rounds    int // of gossip, or 0 for as many as suit the number of members
	Numbering topology.Numbering

	Correction Correction
	// Distance and LeftDistance are those of an opportunistic correction, as in a Config with
	// Unequal distances. Few members are corrected from nearer.
	Distance, LeftDistance int
	// Delay is how long delayed correction waits for a neighbour, on the member's own clock.
	Delay proto.Time
	// After is how long after its last message of dissemination a member waits before it
	// corrects.
	After proto.Time
}

// TreeKind is how a Scheme disseminates.
type TreeKind string

// The kinds.
const (
	TreeBinomial TreeKind = "binomial"
	TreeKAry     TreeKind = "kary"
	TreeLame     TreeKind = "lame"
	TreeOptimal  TreeKind = "optimal"
	TreeChain    TreeKind = "chain"
	TreeStar     TreeKind = "star"
	TreeGossip   TreeKind = "gossip"
)

// TreeKinds are all of them.
var TreeKinds = []TreeKind{TreeBinomial, TreeKAry, TreeLame, TreeOptimal, TreeChain, TreeStar, TreeGossip}

// NeedsK says whether trees of a kind have a parameter k.
func (k TreeKind) NeedsK() bool { return k == TreeKAry || k == TreeLame }

// Named says whether there is a scheme at all.
func (s *Scheme) Named() bool { return s.Tree != "" }

// mostK bounds k, the distances, and an optimal tree's L and o. More makes no difference to
// as many members as a job can have.
const mostK = 1 << 16

// Validate says what is wrong with a Scheme, and why what can't work in a job can't. A valid one
// has a Config for every number of members up to mostK.
func (s *Scheme) Validate() error {
	switch {
	case s.Correction == Acknowledged:
		return errors.New("correction ack can't be chosen in a job: acknowledgements bring the data to no member, " +
			"and members of a job tell each other anyhow what they have completed")
	case s.Tree.NeedsK() && (s.K < 1 || s.K > mostK):
		return fmt.Errorf("tree %s:%d: want a number from 1 to %d", s.Tree, s.K, mostK)
	case s.Tree == TreeOptimal && (s.Latency < 0 || s.Latency > mostK || s.Overhead < 1 || s.Overhead > mostK):
		return fmt.Errorf("tree optimal:%d:%d: want L from 0 and o from 1, up to %d", s.Latency, s.Overhead, mostK)
	case s.Rounds < 0 || s.Rounds > MaxRounds:
		return fmt.Errorf("tree gossip:%d: want 1 to %d rounds", s.Rounds, MaxRounds)
	case s.Delay < 0 || s.After < 0:
		return errors.New("a member can't wait for less than no time")
	case s.Correction.HasDistance() && (s.Distance < 0 || s.LeftDistance < 0 || s.Distance+s.LeftDistance == 0):
		return fmt.Errorf("correction distances %d and %d: want 0 or more, and one of them 1 or more", s.LeftDistance, s.Distance)
	}
	for _, size := range []int{1, 2, mostK} {
		if _, err := s.Config(size); err != nil {
			return err
		}
	}
	return nil
}

// Config is what so many members run. Each message of correction goes out when its sender is done
// with dissemination: the members of a job have no common clock, so none can begin at a time
// given in advance.
func (s *Scheme) Config(size int) (Config, error) {
	tree, err := s.tree(size)
	if err != nil {
		return Config{}, err
	}
	c := Config{Tree: tree, Correction: s.Correction, Delay: s.Delay}
	if s.Tree == TreeGossip {
		c.Gossip.Rounds = s.Rounds
		if s.Rounds == 0 {
			c.Gossip.Rounds = suitableRounds(size)
		}
	}
	if c.Correction.HasDistance() {
		most := max(1, size-1)
		c.Unequal, c.Distance, c.LeftDistance = true, min(s.Distance, most), min(s.LeftDistance, most)
	}
	return c, c.Validate()
}

// suitableRounds double the number of members with the message until all could have it, and then
// go on twice: each further round reaches most of those that are left, and correction the others.
func suitableRounds(size int) int { return min(MaxRounds, bits.Len(uint(size-1))+2) }

func (s *Scheme) tree(size int) (topology.Tree, error) {
	switch s.Tree {
	case TreeBinomial, TreeGossip: // gossip only asks how many there are
		return topology.Binomial(size, s.Numbering)
	case TreeKAry:
		return topology.KAry(size, s.K, s.Numbering)
	case TreeLame:
		return topology.Lame(size, s.K, s.Numbering)
	case TreeOptimal:
		return topology.Optimal(size, s.Latency, s.Overhead, s.Numbering)
	case TreeChain:
		return topology.KAry(size, 1, s.Numbering)
	case TreeStar:
		return topology.KAry(size, max(1, size-1), s.Numbering)
	}
	return topology.Tree{}, fmt.Errorf("unknown tree %q: want binomial, kary, lame, optimal, chain, star or gossip", string(s.Tree))
}
