package broadcast

import (
	"fmt"
	"math"
	"math/bits"

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
	away := 1 + random(splitmix.Mix(g.Seed), s.self, s.count)%uint64(others)
	return c.at(int(s.self) + int(away)), kind, true
}

// random is a number that looks random, of a mixed seed: SplitMix64 applied again.
func random(mixed uint64, self, n int32) uint64 {
	return splitmix.Mix(mixed ^ (uint64(uint32(self))<<32 | uint64(uint32(n))))
}

// Receivers tells whom the processes of a gossip send to, without a machine for each: for studies
// of very many gossips in which only the receivers matter.
type Receivers struct {
	mixed  uint64 // the seed
	others uint64 // how many receivers a process has
	per    uint64 // how often others goes into 2^64 − 1
	procs  int32
}

// Receivers are those among so many processes, 2 at least.
func (g *Gossip) Receivers(procs int) Receivers {
	others := uint64(procs - 1)
	return Receivers{splitmix.Mix(g.Seed), others, math.MaxUint64 / others, int32(procs)}
}

// Of is the receiver of a process's n-th message, counted from 1.
func (r *Receivers) Of(self, n int32) int32 {
	x := random(r.mixed, self, n)
	quotient, _ := bits.Mul64(x, r.per) // of x and others, or one less
	away := x - quotient*r.others
	if away >= r.others {
		away -= r.others
	}
	to := self + 1 + int32(away)
	if to >= r.procs {
		to -= r.procs
	}
	return to
}
