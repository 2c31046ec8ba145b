package broadcast

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// Correction is what follows dissemination.
type Correction uint8

const (
	NoCorrection Correction = iota // a plain tree
	Acknowledged                   // a plain tree, acknowledged
	Checked                        // checked correction
	Optimised                      // optimised opportunistic correction
)

// corrections are the names of all variants.
var corrections = [...]string{"none", "ack", "checked", "optimized"}

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
	return 0, fmt.Errorf("unknown correction %q: want none, ack, checked or optimized", s)
}

// Corrects says whether processes send corrections at all.
func (c Correction) Corrects() bool { return c == Checked || c == Optimised }

// DefaultStart is the start that the paper gives a correction: "synchronized",
// "overlapped", or "-" where there is none.
func (c Correction) DefaultStart() string {
	switch c {
	case Checked:
		return "synchronized"
	case Optimised:
		return "overlapped"
	}
	return "-"
}

// Config is what all processes of a broadcast know in advance. It isn't changed
// after its first use, and is shared.
type Config struct {
	Tree       topology.Tree
	Correction Correction

	// Distance is the number of neighbours on each side to which an optimised
	// correction goes, from 1. More than half the ring is as much as half the ring.
	Distance int

	// Synchronised correction begins at CorrectAt, at every process that the
	// tree has reached by then; otherwise at each when it has sent its tree
	// messages.
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
	case c.Correction == Optimised && (c.Distance < 1 || c.Distance >= max(2, c.Tree.Procs())):
		return fmt.Errorf("correction distance %d: want 1 to %d", c.Distance, max(1, c.Tree.Procs()-1))
	case c.Synchronised && !c.Correction.Corrects():
		return fmt.Errorf("correction %v has no start to synchronise", c.Correction)
	case c.CorrectAt < 0:
		return fmt.Errorf("correction starts at %d: want 0 or later", c.CorrectAt)
	}
	return nil
}

// Kind is the kind of a message. Corrections carry the side to which they were
// sent, since in a small ring a process can be met from both.
type Kind uint8

const (
	KindTree  Kind = iota + 1
	KindLeft       // a correction sent to a lower position (round the ring)
	KindRight      // a correction sent to a higher position (round the ring)
	KindAck        // everyone at and below the sender has the message
)

var kinds = [...]string{KindTree: "tree", KindLeft: "left", KindRight: "right", KindAck: "ack"}

func (k Kind) String() string {
	if k >= KindTree && int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Payload says whether a message of this kind carries the broadcast's payload.
func (k Kind) Payload() bool { return k != KindAck }
