package replica

import (
	"fmt"

	"banyan/internal/proto"
)

// messageSize is how much a received message counts.
const messageSize = 2

// This file is the part of the world that keeps replicas from being far ahead of each other.

// Mistakes about skews.
const (
	// No replica hears how much its siblings have received.
	neverReported bug = "never reported"
	// A replacement doesn't hear how much its siblings have received.
	replacementUninformed bug = "replacement uninformed"
	// No replica waits for a sibling.
	neverThrottled bug = "never throttled"
	// Replicas wait for dead siblings.
	deadAwaited bug = "dead awaited"
)

// reports says whether a report gets lost.
func (b bug) reports(w *world, to proto.Proc) bool {
	return b == neverReported || b == replacementUninformed && w.healing&(1<<to) != 0
}

// ask makes a machine tell its siblings something.
func (r *reaction) ask(what func(*Actions)) error {
	var out Actions
	what(&out)
	return r.carryOut(out)
}

// ahead checks, of a process whose send is complete, that it isn't too far ahead of any sibling
// that is live in the world and to its own knowledge.
func (w *world) ahead(r *reaction) error {
	if !w.mirror || w.skew == 0 || r.goesOn == nil {
		return nil
	}
	for set := r.goesOn.siblings; set != 0; set &= set - 1 {
		sibling := w.layout.Proc(w.layout.Rank(r.at), set.lowest())
		s := w.nodes[sibling]
		if s.status > doomed || s.incarnation != r.n.m.incarnation(sibling) || s.m.skew.through {
			continue
		}
		if received := r.goesOn.received; received > s.m.skew.received+w.skew {
			return fmt.Errorf("%v goes on with %d received, %v has %d", r.at, received, sibling, s.m.skew.received)
		}
	}
	return nil
}
