package comm

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// selfContext is the context of every rank's communicator with itself. One number serves all ranks:
// no message of one rank's can arrive at another.
const selfContext uint64 = 4

// Self is the communicator of this rank alone.
func Self(eng *engine.Engine) (*Comm, error) {
	_, rank := eng.Self()
	return open(eng, selfContext, []proto.Rank{rank})
}
