package recovery

import (
	"banyan/internal/proto"
	"fmt"
	"slices"
)

// promises are what a world remembers to hold the Healing to.
type promises struct {
	over   bool
	given  []proto.Incarnation // by place: the last life
	failed []int               // by place: replacements in a row, up to now, that were of no use

	trying    Process // the last attempt's replacement
	open      bool    // that hasn't come to its end
	admitted  bool    // all have been told of it
	follows   bool    // its output does
	dismissed bool
	buried    bool // all have been told that it is dead
}

// carryOut does what a caller does, and holds the Healing to its promises.
func (w *world) carryOut(a Action) error {
	var q Process
	if a.Attempt != nil {
		q = a.Attempt.Process
	}
	if w.dismissed && slices.Contains([]ActionKind{Admit, Donate, Drain, Follow, Seat, Dismiss, Healed}, a.Kind) {
		return fmt.Errorf("action %d for %v, which has been dismissed", a.Kind, q)
	}
	switch a.Kind {
	case Start:
		return w.start(a.Attempt)
	case Admit:
		if w.admitted || w.other == nil || w.other.Process != q {
			return fmt.Errorf("all are told of %v", q)
		}
		w.admitted = true
	case Donate:
		if d := w.seated[a.Attempt.Donor.Proc]; d.Process == a.Attempt.Donor {
			d.tell(toldDonate, q)
			w.meet(d)
		} else {
			return fmt.Errorf("%v is to donate, whose place %v has", a.Attempt.Donor, d.Process)
		}
	case Drain:
		m := mark{a.Attempt.Donor, q}
		if !slices.Contains(w.asked, m) && !w.seated[m.donor.Proc].reaped {
			return fmt.Errorf("%v hasn't said that it is paused for %v", m.donor, q)
		}
		w.drains = append(slices.Clone(w.drains), m)
	case Follow:
		if m := (mark{a.Attempt.Donor, q}); w.follows || w.other == nil || w.other.Process != q || slices.Contains(w.drains, m) {
			return fmt.Errorf("%v follows", q)
		}
		w.follows = true
	case Marked:
		return w.answered(mark{a.To, a.Replacement})
	case Seat:
		if p := w.other; p == nil || p.Process != q || p.stage < committed || !w.admitted || w.witness && !w.follows {
			return fmt.Errorf("%v has a place", q)
		}
		w.past = append(w.past, w.seated[q.Proc])
		w.seated[q.Proc], w.other = w.other, nil
	case Dismiss:
		return w.dismiss(a.Attempt)
	case Bury:
		if w.buried || !w.admitted || w.other == nil || w.other.Process != q {
			return fmt.Errorf("others are told of the death of %v", q)
		}
		w.buried = true
		for _, p := range w.seated {
			p.tell(toldDeath, q)
		}
	case Healed, Failed:
		return w.ended(a)
	case Empty:
		if !w.over {
			return fmt.Errorf("%q before the end", a.Text)
		}
	}
	return nil
}

func (w *world) start(a *Attempt) error {
	slot, donor := w.seated[a.Proc], w.seated[a.Donor.Proc]
	switch {
	case w.open || w.other != nil:
		return fmt.Errorf("%v begins during another attempt", a.Process)
	case w.over:
		return fmt.Errorf("%v begins after the end", a.Process)
	case a.Incarnation <= w.given[a.Proc]:
		return fmt.Errorf("life %d of place %d is given twice", a.Incarnation, a.Proc)
	case !slot.reaped:
		return fmt.Errorf("%v is to have the place of %v, which lives", a.Process, slot.Process)
	case donor.Process != a.Donor || !donor.safe || donor.reaped || donor.barred || w.h.layout.Rank(a.Proc) != w.h.layout.Rank(donor.Proc):
		return fmt.Errorf("%v is the donor of %v", a.Donor, a.Process)
	}
	if w.failed[a.Proc] >= MaxFailures {
		return fmt.Errorf("%v begins after %d failures", a.Process, w.failed[a.Proc])
	}
	w.given[a.Proc] = a.Incarnation
	w.trying, w.open, w.admitted, w.follows, w.dismissed, w.buried = a.Process, true, false, false, false, false
	if w.refuse {
		w.refuse = false
		return w.step(func(out *[]Action) { w.h.Fail(a.Process, "it can't be started", Replacement, out) })
	}
	w.other = &process{Process: a.Process, alive: true, donor: a.Donor}
	return nil
}

// answered takes the answer to a mark.
func (w *world) answered(m mark) error {
	d := w.seated[m.donor.Proc]
	i := slices.Index(w.asked, m)
	if i < 0 || d.Process != m.donor {
		return fmt.Errorf("%v is answered what it hasn't asked, or twice, about %v", m.donor, m.replacement)
	}
	w.asked = slices.Delete(slices.Clone(w.asked), i, i+1)
	d.tell(toldMarked, m.replacement)
	return nil
}

func (w *world) dismiss(a *Attempt) error {
	w.dismissed = true
	p := w.other
	if a.Committed() {
		p = w.seated[a.Proc]
	}
	if p == nil { // it couldn't be started
		if err := w.step(func(out *[]Action) { w.h.Died(w.now, a.Process, "it can't be started", out) }); err != nil {
			return err
		}
		return w.next()
	}
	if p.Process != a.Process || p.reaped {
		return fmt.Errorf("%v is dismissed, and %v is there", a.Process, p.Process)
	}
	if p.alive {
		p.die()
	}
	if !w.witness { // it is sent away, and nothing is heard of it any more
		p.up = nil
		return w.reap(p)
	}
	return nil
}

// ended takes the end of an attempt.
func (w *world) ended(a Action) error {
	q := a.Attempt.Process
	switch {
	case !w.open:
		return fmt.Errorf("the attempt %v ends twice", q)
	case a.Kind == Healed && w.seated[q.Proc].Process != q, a.Kind == Failed && w.seated[q.Proc].Process == q, a.Text == "", (a.Kind == Failed) != (a.Attempt.Why != ""):
		return fmt.Errorf("the attempt %v ends, as %q", q, a.Text)
	}
	w.open = false
	if a.Kind == Healed {
		w.seated[q.Proc].young = true
	}
	if a.Kind == Healed || w.over {
		return nil
	}
	switch d := w.seated[a.Attempt.Donor.Proc]; {
	case d.reaped: // no fault of the replacement's
	case a.Attempt.blame == Replacement:
		w.failed[q.Proc]++
	case a.Attempt.blame == Donor:
		d.barred = true
	}
	return nil
}

// replicaDied is what the death of a replica means: of a replacement not long since, or that not all know yet, it is a failure.
func (w *world) replicaDied(p *process) {
	unknown := w.open && p.Process == w.trying
	if unknown {
		w.open = false
	}
	if w.failed[p.Proc]++; !unknown && !p.young {
		w.failed[p.Proc] = 0
	}
	for _, q := range w.seated {
		q.tell(toldDeath, p.Process)
	}
}

// End implements explore.World.
func (w *world) End() error {
	if a := w.h.Now(); a != nil || w.open {
		return fmt.Errorf("the attempt %v doesn't end", w.trying)
	}
	if len(w.asked) > 0 {
		return fmt.Errorf("%v waits for an answer for ever", w.asked[0].donor)
	}
	for _, p := range w.seated {
		if p.alive && p.donating.Incarnation > 0 {
			return fmt.Errorf("%v gives its state to %v for ever", p.Process, p.donating)
		}
		donates := func(q *process) bool {
			return q.alive && q.safe && !q.barred && w.h.layout.Rank(p.Proc) == w.h.layout.Rank(q.Proc)
		}
		if !p.alive && !w.over && w.failed[p.Proc] < MaxFailures && slices.ContainsFunc(w.seated, donates) {
			return fmt.Errorf("the place of %v stays empty", p.Process)
		}
	}
	return nil
}
