package incremental

import (
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/trace"
)

var (
	dissemination = trace.PurposeOf(broadcast.KindTree.String())
	correction    = trace.PurposeOf(broadcast.KindLeft.String())
)

// tellListener reports the run that has just ended.
func (e *Evaluator) tellListener(failed []int, o logp.Outcome) {
	if e.treeMessages > 0 {
		e.Listener.Sent(dissemination, e.treeMessages)
	}
	e.Listener.Sent(correction, o.Messages-e.treeMessages)
	e.Listener.Lost(e.lost + e.regularLost(failed))
	e.Listener.Quiet(o.Quiescence)
	for p := range e.cells {
		switch state := e.cells[p].state; state {
		case dead:
			e.Listener.Process(proto.Never, trace.Other, false, true)
		case missed:
			e.Listener.Process(proto.Never, trace.Other, false, false)
		case corrected:
			e.Listener.Process(e.handled(e.colouredIn[p]), correction, false, false)
		default:
			e.Listener.Process(e.fixed.at[p], dissemination, true, false)
		}
	}
}

// regularLost is how many corrections of regular slots were sent to dead processes, which are in
// ascending order.
func (e *Evaluator) regularLost(failed []int) (lost int) {
	for i, f := range failed {
		if i > 0 && failed[i-1] == f {
			continue
		}
		for slot := range e.regular {
			from := int32(f) - slot/2 - 1 // sent to the right
			if slot%2 == 0 {
				from = int32(f) + slot/2 + 1
			}
			if e.cells[e.at(from)].state >= inside {
				lost++
			}
		}
	}
	return lost
}
