package comm

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Failed are the members that have failed, as far as this process knows, as ranks of the world, in
// the order in which it learnt of them. The list only grows, and has each rank that an error of an
// operation of this communicator has named.
func (c *Comm) Failed() []proto.Rank { return c.eng.Failed(c.context) }

// AckFailed acknowledges the first n of Failed, and returns how many of them are acknowledged.
// Receives from any source wait for messages as long as all known failures are acknowledged.
func (c *Comm) AckFailed(n int) int { return c.eng.AckFailed(c.context, n) }

// learn notes the failed rank that an error names.
func (c *Comm) learn(err error) {
	if lost := (*process.LostError)(nil); errors.As(err, &lost) {
		c.eng.NoteFailed(c.context, lost.Rank)
	}
}
