package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
)

// With mirror, replicas get messages from whichever replica layer is ahead. A replica that lags
// keeps them until its program receives them. To bound how many it keeps, a replica is throttled
// whose program has received much more than a sibling's: its sends don't complete, as where much
// is retained. See package replica.

// skewLimit is by how many bytes a replica's program may be ahead.
const skewLimit = replica.SkewLimit

// noteTaken notes that such a message has found its receive. Messages of a rank to itself don't
// count, since every replica makes them itself. A replacement gets the count with its donor's
// state.
func (p *Process) noteTaken(src proto.Rank, bytes int) {
	if src != p.rank && p.healing.replay == nil && p.replica.Received(uint64(bytes)+retainCost) {
		p.replica.Report(&p.replicaOut)
		p.runReplica()
	}
}
