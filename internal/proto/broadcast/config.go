package broadcast

import (
	"fmt"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// Correction is what follows dissemination.
type Correction uint8

const (
	NoCorrection  Correction = iota // dissemination alone
	Acknowledged                    // a plain tree, acknowledged
	Checked                         // checked correction
	Optimised                       // optimised opportunistic correction, as printed
	SkipAhead                       // opportunistic correction that skips ahead on each side
	Opportunistic                   // opportunistic correction
	Delayed                         // delayed correction
	Ordered                         // optimised correction that relies only on those before in an order
	FailureProof                    // failure-proof correction
)

// corrections are the names of all variants.
var corrections = [...]string{"none", "ack", "checked", "optimized", "skip-ahead", "opportunistic", "delayed", "ordered", "failure-proof"}

func (c Correction) String() string {
	if int(c) < len(corrections) {
		return corrections[c]
	}
	return fmt.Sprintf("correction %d", uint8(c))
}

// ParseCorrection is the inverse of [Correction.String].
func ParseCorrection(s string) (Correction, error) {
	for i, name := range corrections {
		if s == name {
			return Correction(i), nil
		}
	}
	return 0, fmt.Errorf("unknown correction %q: want %s or %s", s, strings.Join(corrections[:len(corrections)-1], ", "), corrections[len(corrections)-1])
}

// Corrects says whether processes send corrections at all.
func (c Correction) Corrects() bool { return c >= Checked && int(c) < len(corrections) }

// HasDistance says whether corrections go to a fixed number of neighbours.
func (c Correction) HasDistance() bool {
	return c >= Optimised && c <= Opportunistic || c == Ordered
}

// DefaultStart is the start that suits a correction, the paper's where it gives
// one: "synchronized", "overlapped", or "-" where there is none.
func (c Correction) DefaultStart() string {
	switch c {
	case Checked, Delayed:
		return "synchronized"
	case Optimised, SkipAhead, Opportunistic, Ordered, FailureProof:
		return "overlapped"
	}
	return "-"
}

// Config is what all processes of a broadcast know in advance. It isn't changed
// after its first use, and is shared.
type Config struct {
	// Tree is that of dissemination. Where this is gossip, only the number of
	// its processes counts.
	Tree       topology.Tree
	Gossip     Gossip
	Correction Correction

	// Distance is the number of neighbours on each side to which an opportunistic
	// correction goes, of any variant, from 1. Processes that would be reached
	// from both sides of a small ring are reached from one.
	Distance int
	// Unequal distances: Distance counts the neighbours on the right only,
	// LeftDistance those on the left. One of them may be 0.
	Unequal      bool
	LeftDistance int

	// Delay is how long delayed correction waits for its neighbour.
	Delay proto.Time

	// Synchronised correction begins at CorrectAt, at every process that
	// dissemination has reached by then; otherwise at each when it has sent its
	// messages of dissemination.
	Synchronised bool
	CorrectAt    proto.Time
}

// Validate says what is wrong with a Config.
func (c *Config) Validate() error {
	switch {
	case c.Tree.Procs() < 1:
		return fmt.Errorf("a broadcast needs a tree")
	case int(c.Correction) >= len(corrections):
		return fmt.Errorf("unknown %v", c.Correction)
	case c.Synchronised && !c.Correction.Corrects():
		return fmt.Errorf("correction %v has no start to synchronise", c.Correction)
	case c.CorrectAt < 0:
		return fmt.Errorf("correction starts at %d: want 0 or later", c.CorrectAt)
	case c.Delay < 0:
		return fmt.Errorf("delay %d: want 0 or more", c.Delay)
	case c.Delay > 0 && c.Correction != Delayed:
		return fmt.Errorf("delay %d: correction %v has none", c.Delay, c.Correction)
	}
	if err := c.validateDistances(); err != nil {
		return err
	}
	return c.validateGossip()
}

func (c *Config) validateDistances() error {
	most := max(1, c.Tree.Procs()-1)
	switch {
	case !c.Correction.HasDistance() && c.Unequal:
		return fmt.Errorf("correction %v has no distances", c.Correction)
	case !c.Correction.HasDistance():
		return nil
	case !c.Unequal && (c.Distance < 1 || c.Distance > most):
		return fmt.Errorf("correction distance %d: want 1 to %d", c.Distance, most)
	case !c.Unequal:
		return nil
	case c.Distance < 0 || c.Distance > most:
		return fmt.Errorf("correction distance to the right %d: want 0 to %d", c.Distance, most)
	case c.LeftDistance < 0 || c.LeftDistance > most:
		return fmt.Errorf("correction distance to the left %d: want 0 to %d", c.LeftDistance, most)
	case c.Distance+c.LeftDistance == 0:
		return fmt.Errorf("correction distances 0 and 0: want one of 1 or more")
	}
	return nil
}
