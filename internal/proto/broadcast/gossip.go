package broadcast

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// Gossip is dissemination without a tree (section 3.1, after Hoefler et al.):
// a process that has the message sends it to others chosen at random, until a time, or for a
// number of rounds. The zero Gossip is none.
//
// The rounds are counted as in the paper's MPI prototype: the root starts in round 0,
// every message carries the number of its round, the sender's next, and a process that is reached
// in round r sends in rounds r+1 to Rounds. Then it is ready to correct. A process
// that a correction reaches first knows no round, and doesn't gossip before it has
// heard one.
//
// The receiver of a process's n-th message depends on the seed, the process
// and n only. All other processes are equally likely each time.
type Gossip struct {
	Until  proto.Time // when gossip ends, or
	Rounds int        // how many rounds there are, up to MaxRounds
	Seed   uint64
}

// MaxRounds is the most rounds that gossip may have: a message is one byte.
const MaxRounds = maxNumber

func (g *Gossip) enabled() bool { return g.Until > 0 || g.Rounds > 0 }

func (c *Config) validateGossip() error {
	g := &c.Gossip
	switch {
	case g.Until < 0:
		return fmt.Errorf("gossip ends at %d: want 0 (no gossip) or later", g.Until)
	case g.Rounds < 0 || g.Rounds > MaxRounds:
		return fmt.Errorf("%d rounds of gossip: want 0 (no gossip) to %d", g.Rounds, MaxRounds)
	case g.Until > 0 && g.Rounds > 0:
		return fmt.Errorf("gossip until %d and for %d rounds: want one of these", g.Until, g.Rounds)
	case g.enabled() && (c.Correction == Acknowledged || c.Correction == Delayed):
		return fmt.Errorf("correction %v needs a tree, not gossip", c.Correction)
	case c.Synchronised && c.CorrectAt < g.Until:
		return fmt.Errorf("correction starts at %d, gossip ends at %d", c.CorrectAt, g.Until)
	}
	return nil
}

// begin makes a process gossip that has received a message of this kind.
func (g *Gossip) begin(s *State, kind Kind) {
	if g.Rounds > 0 && !kind.disseminates() {
		return
	}
	s.flags |= flagSpread | flagSpreading
	if g.Rounds > 0 {
		s.count = int32(kind.number())
	}
}

// gossip returns the process's next message, until gossip is over.
func (c *Config) gossip(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	others := c.Tree.Procs() - 1
	g := &c.Gossip
	if others == 0 || g.Rounds > 0 && int(s.count) >= g.Rounds || g.Rounds == 0 && now >= g.Until {
		return 0, 0, false
	}
	s.count++
	kind = KindGossip
	if g.Rounds > 0 {
		kind = kind.withNumber(int(s.count))
	}
	away := 1 + g.random(s.self, s.count)%uint64(others)
	return c.at(int(s.self) + int(away)), kind, true
}

// random is a number that looks random: SplitMix64 applied twice.
func (g *Gossip) random(self, n int32) uint64 {
	return splitmix.Mix(splitmix.Mix(g.Seed) ^ (uint64(uint32(self))<<32 | uint64(uint32(n))))
}
