package correctedtrees

import "banyan/internal/topology"

// reach finds the processes that overlapped opportunistic correction leaves uncoloured, without
// playing the broadcast.
//
// Every live process that is coloured, by any message, sends to all its children and sooner or
// later to all within the distance on the ring; with skip-ahead and ordered correction, except
// those to which another sends. So the coloured processes don't depend on time: they are those that
// can be reached from the root over live processes, along the tree and along steps of at most the
// distance. TestReach compares this with the engine. Optimised correction, as printed, leaves out
// some that no process sends to: the engine must say which.
type reach struct {
	parent []int32
	state  []uint8
	cutOff []int32 // live processes that aren't coloured so far
}

// States of a process.
const (
	uncoloured uint8 = iota
	coloured
	dead
)

func newReach(t *topology.Tree) *reach {
	r := &reach{parent: make([]int32, t.Procs()), state: make([]uint8, t.Procs())}
	for p := range r.parent {
		r.parent[p] = int32(t.Parent(p))
	}
	return r
}

// unreached appends to counts how many live processes each distance leaves
// uncoloured. Distances ascend.
func (r *reach) unreached(counts []int, failed []int, distances []int) []int {
	clear(r.state)
	for _, f := range failed {
		r.state[f] = dead
	}
	r.state[0] = coloured
	r.cutOff = r.cutOff[:0]
	for p := 1; p < len(r.state); p++ { // parents come before their children
		switch {
		case r.state[p] == dead:
		case r.state[r.parent[p]] == coloured:
			r.state[p] = coloured
		default:
			r.cutOff = append(r.cutOff, int32(p))
		}
	}
	for _, d := range distances {
		for changed := true; changed; {
			changed = false
			still := r.cutOff[:0]
			for _, p := range r.cutOff {
				if r.state[r.parent[p]] == coloured || r.near(int(p), d) {
					r.state[p] = coloured
					changed = true
				} else {
					still = append(still, p)
				}
			}
			r.cutOff = still
		}
		counts = append(counts, len(r.cutOff))
	}
	return counts
}

// near says whether a process within the distance is coloured.
func (r *reach) near(p, distance int) bool {
	n := len(r.state)
	for i := 1; i <= min(distance, n-1); i++ {
		if r.state[(p+i)%n] == coloured || r.state[(p-i+n)%n] == coloured {
			return true
		}
	}
	return false
}
