package process

import "banyan/internal/proto"

// With mirror, replicas get messages from whichever world is ahead. One that lags keeps them
// until its program comes to receive them. So that these don't get ever more, a replica
// whose program has received much more than a sibling's is held back: what it sends isn't
// complete, as where much is retained. See package replica.

// skewLimit is how many bytes the program may have received, in messages that are sent unasked,
// before its sends wait for the other replicas' programs to receive them, too. It is what a core's own cache holds
// rather than what memory would: what comes to a laggard early is read when it has been driven out of there.
const skewLimit = 1 << 20

// noteTaken notes that such a message has found its receive. Those of a rank to itself every replica
// has on its own; and a replacement gets the count with its donor's state.
func (p *Process) noteTaken(src proto.Rank, bytes int) {
	if src != p.rank && p.healing.replay == nil && p.replica.Received(uint64(bytes)+retainCost) {
		p.replica.Report(&p.replicaOut)
		p.runReplica()
	}
}
