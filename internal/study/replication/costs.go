package replication

import (
	"math"

	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/field"
)

// Costs are what messages take of the network and of processors.
type Costs struct {
	loggp.Model
	// PerCopy is what a processor takes to copy a byte, in nanoseconds. A message is copied into
	// the network and out of it, once more if it comes before its receive, and once more by a
	// replicated sender, which retains it.
	PerCopy float64
	// Acknowledge is the overhead of a frame of acknowledgements, to send it and to receive it.
	Acknowledge proto.Time
	// Replication is what it adds to the overhead of sending a message, and of receiving one,
	// beside the copy: numbers, stamps, duplicates.
	Replication proto.Time
}

// Validate says which cost is impossible.
func (c *Costs) Validate() error {
	if err := c.Model.Validate(); err != nil {
		return err
	}
	switch {
	case !(c.PerCopy >= 0 && c.PerCopy <= 1e6):
		return field.Errorf("per_copy", "%v ns: want 0 to 1e6", c.PerCopy)
	case c.Acknowledge < 0 || c.Acknowledge > 1e9:
		return field.Errorf("acknowledge", "%d ns: want 0 to 1s", c.Acknowledge)
	case c.Replication < 0 || c.Replication > 1e9:
		return field.Errorf("replication", "%d ns: want 0 to 1s", c.Replication)
	}
	return nil
}

// copying is how long copying takes.
func (c *Costs) copying(bytes int64) proto.Time {
	return proto.Time(math.Round(c.PerCopy * float64(bytes)))
}
