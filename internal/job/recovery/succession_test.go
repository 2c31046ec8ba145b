package recovery

import (
	"cmp"
	"slices"
	"time"

	"banyan/internal/proto"
)

// steps are the order in which a replacement comes to say something for the first time. Agents have
// what is said again behind what was said later.
var steps = map[messageKind]int{saysArrived: 1, saysCommitted: 2, saysHealed: 3, healable: 4, saysMark: 5, saysFailed: 6, saysUnhealable: 7}

// succeed has another leader go on, as package launcher does: with what is kept of the job, and
// with what agents say. That is which processes there are, how they ended, and all that those have
// said which don't count as dead.
func (w *world) succeed() error {
	layout := w.machine.layout
	w.machine, w.drains, w.startFails = New(layout, time.Minute, w.seesOutput, w.most), nil, false
	clear(w.failures)
	clear(w.missing)
	m := w.machine
	w.each(func(p *process) {
		p.barred, p.unproven = false, false
		p.toLeader = nil
		if p.reaped {
			return
		}
		p.toLeader = slices.Clone(p.said)
		slices.SortStableFunc(p.toLeader, func(a, b message) int { return cmp.Compare(steps[a.kind], steps[b.kind]) })
		for _, said := range p.said {
			if x := (mark{p.Process, said.replacement}); said.kind == saysMark && w.seesOutput && !slices.Contains(w.marks, x) {
				w.marks = append(slices.Clone(w.marks), x)
			}
		}
	})
	for p, x := range w.bySlot {
		if err := w.step(func(out *[]Action) {
			m.Filled(x.Process, out)
			m.Reserve(proto.Proc(p), w.last[p])
			if x.reaped {
				m.Died(w.now, x.Process, "", out)
			}
		}); err != nil {
			return err
		}
	}
	for p, q := range w.joining {
		x := &w.trials[p]
		if q == nil {
			filled := w.bySlot[p]
			x.underWay = filled.stage == committed && !filled.reaped
			if x.underWay {
				*x = trial{process: filled.Process, underWay: true, follows: true, admitted: true}
				if err := w.step(func(out *[]Action) {
					m.Resume(w.now, Left{Process: filled.Process, Donor: filled.donor, Committed: true}, out)
				}); err != nil {
					return err
				}
			}
			continue
		}
		left := w.bug.left(Left{Process: q.Process, Donor: q.donor, Follows: x.follows, Arrived: q.stage > started})
		*x = trial{process: q.Process, underWay: true, follows: x.follows, admitted: left.Arrived}
		if w.bug == lateForgotten {
			continue
		}
		if err := w.step(func(out *[]Action) { m.Resume(w.now, left, out) }); err != nil {
			return err
		}
	}
	if w.over {
		if err := w.step(m.Over); err != nil {
			return err
		}
	}
	return w.next()
}
