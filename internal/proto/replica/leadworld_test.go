package replica

import (
	"fmt"

	"banyan/internal/proto"
)

// messageSize is what a message counts that is received.
const messageSize = 2

// This file is what the world does where replicas mustn't be far ahead of each other.

// Mistakes about leads.
const (
	// Nobody hears how much its siblings have received.
	neverReported bug = "never reported"
	// A newcomer doesn't.
	newcomerUninformed bug = "newcomer uninformed"
	// Nobody waits for a sibling.
	neverHeld bug = "never held"
	// The dead are waited for.
	deadAwaited bug = "dead awaited"
)

// reports says whether a report gets lost.
func (b bug) reports(w *world, report Action) bool {
	return b == neverReported || b == newcomerUninformed && report.To == w.healing
}

// ask has a machine tell its siblings something.
func (w *world) ask(at proto.Proc, what func(*Actions)) error {
	var out Actions
	what(&out)
	return w.carryOut(at, out)
}

// ahead checks, of a process whose send is complete, that it isn't too far ahead of any
// sibling that both it and the world hold for alive, if nobody can wait for it.
func (w *world) ahead(at proto.Proc) error {
	n := w.nodes[at]
	limit := n.m.lead.limit
	if limit == 0 || n.m.arrival.offered > 0 {
		return nil
	}
	for set := n.m.siblings(); set != 0; set &= set - 1 {
		sibling := w.layout.Proc(w.layout.Rank(at), set.lowest())
		s := w.nodes[sibling]
		if s.status > doomed || s.incarnation != n.m.incarnation(sibling) || s.m.lead.through {
			continue
		}
		if n.m.lead.received > s.m.lead.received+limit {
			return fmt.Errorf("%v goes on with %d received, %v has %d", at, n.m.lead.received, sibling, s.m.lead.received)
		}
	}
	return nil
}
