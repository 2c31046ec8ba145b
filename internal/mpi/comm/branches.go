package comm

import "banyan/internal/splitmix"

// Branches keep the contexts that are derived from one communicator's apart. A context and the one
// that differs in its last bit belong together: for messages and for collectives. So two branches
// differ, whatever they are for. Those of Split are small numbers.
const (
	spreadBranch = 1 << 61
	laneBranch   = 1 << 62 // and the number of a lane
	keptBranch   = 1 << 63 // and the number of a plan
	shrinkBranch = 3 << 61
	refillBranch = 3<<61 | 1
	retryBranch  = 3<<61 | 2
	interBranch  = 3<<61 | 3
	partsBranch  = 3<<61 | 4
)

func branchOf(parent, branch uint64) uint64 { return splitmix.Mix(splitmix.Mix(parent) ^ branch) }
