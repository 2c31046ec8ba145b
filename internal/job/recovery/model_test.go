package recovery

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// model is what a world remembers, to check the machine's invariants.
type model struct {
	over     bool
	last     []proto.Incarnation // by slot: the last incarnation
	failures []int               // by slot: useless replacements in a row, up to now
	missing  []bool              // by slot: its process was retired, and its slot may yet be filled

	trials []trial // by slot: the last attempt

	cause event // what happens now
}

// trial is an attempt, as the world sees it.
type trial struct {
	process   Process // the replacement
	underWay  bool    // the attempt hasn't ended
	admitted  bool    // all have been told of the replacement
	follows   bool    // its output follows its donor's
	dismissed bool
	deathTold bool // all have been told that the replacement is dead
}

// underWay is how many attempts haven't ended, of one rank, or of all.
func (w *world) underWay(rank proto.Rank) (n int) {
	for p, x := range w.trials {
		if x.underWay && (rank == proto.AnyRank || w.machine.layout.Rank(proto.Proc(p)) == rank) {
			n++
		}
	}
	return n
}

// idle checks that no slot waits that could be filled now.
func (w *world) idle() error {
	if w.over || len(w.machine.attempts) >= w.machine.most {
		return nil
	}
	for _, p := range w.bySlot {
		rank := w.machine.layout.Rank(p.Proc)
		donates := func(d *process) bool {
			return w.machine.table[d.Proc].canDonate && !d.reaped && !d.retired && w.machine.layout.Rank(d.Proc) == rank
		}
		if p.reaped && w.underWay(rank) == 0 && w.failures[p.Proc] < MaxFailures && slices.ContainsFunc(w.bySlot, donates) {
			return fmt.Errorf("the slot of %v waits, and nothing is in its way", p.Process)
		}
	}
	return nil
}

// carryOut does what a caller does, and checks the invariants.
func (w *world) carryOut(a Action) error {
	var q Process
	var joining *process
	x := new(trial)
	if a.Attempt != nil {
		q, joining, x = a.Attempt.Process, w.joining[a.Attempt.Proc], &w.trials[a.Attempt.Proc]
	}
	if x.dismissed && x.process == q && slices.Contains([]ActionKind{Admit, Donate, Drain, Follow, Fill, Dismiss, Healed}, a.Kind) {
		return fmt.Errorf("action %d for %v, which was dismissed", a.Kind, q)
	}
	switch a.Kind {
	case Start:
		return w.start(a.Attempt)
	case Admit:
		if x.admitted || joining == nil || joining.Process != q {
			return fmt.Errorf("all are told of %v, and it isn't there or they know it", q)
		}
		x.admitted = true
	case Donate:
		if d := w.bySlot[a.Attempt.Donor.Proc]; d.Process == a.Attempt.Donor {
			d.receive(toldDonate, q)
			w.learnDonor(d)
		} else {
			return fmt.Errorf("%v is to donate, and %v fills its slot", a.Attempt.Donor, d.Process)
		}
	case Drain:
		m := mark{a.Attempt.Donor, q}
		if !slices.Contains(w.marks, m) && !w.bySlot[m.donor.Proc].reaped {
			return fmt.Errorf("%v hasn't said that it is paused for %v", m.donor, q)
		}
		w.drains = append(slices.Clone(w.drains), m)
	case Follow:
		if m := (mark{a.Attempt.Donor, q}); x.follows || joining == nil || joining.Process != q || slices.Contains(w.drains, m) {
			return fmt.Errorf("the output of %v follows too early or twice", q)
		}
		x.follows = true
	case Marked:
		return w.answered(mark{a.To, a.Replacement})
	case Fill:
		if w.over {
			return fmt.Errorf("%v fills its slot after the end", q)
		}
		if joining == nil || joining.Process != q || joining.stage < committed || !x.admitted || w.seesOutput && !x.follows {
			return fmt.Errorf("%v fills its slot too early", q)
		}
		w.missing[q.Proc] = false
		w.former = append(w.former, w.bySlot[q.Proc])
		w.bySlot[q.Proc], w.joining[q.Proc] = joining, nil
	case Dismiss:
		return w.dismiss(a.Attempt)
	case AskToGiveUp:
		p := w.process(q)
		if p == nil || p.reaped || q != x.process || !x.underWay {
			return fmt.Errorf("%v is asked to give up, and isn't a replacement that becomes a replica", q)
		}
		p.receive(toldGiveUp, Process{})
	case Ask:
		if d := w.bySlot[a.To.Proc]; d.Process == a.To {
			d.receive(toldAsk, Process{})
		} else {
			return fmt.Errorf("%v is asked, and %v fills its slot", a.To, d.Process)
		}
	case Retire:
		return w.retire(a.To)
	case AnnounceDeath:
		if x.deathTold || !x.admitted || joining == nil || joining.Process != q {
			return fmt.Errorf("the others are told of the death of %v, which they don't know, or twice", q)
		}
		if joining.alive || !joining.reaped {
			return fmt.Errorf("the others are told of the death of %v, which may act", q)
		}
		x.deathTold = true
		for _, p := range w.bySlot {
			p.receive(toldDeath, q)
		}
	case Healed, Failed:
		return w.ended(a)
	case LeftVacant:
		if !w.over {
			return fmt.Errorf("%q before the end", a.Text)
		}
	}
	return nil
}

// retire kills a process that is to leave.
func (w *world) retire(q Process) error {
	p := w.bySlot[q.Proc]
	donates := func(d *process) bool {
		return d != p && d.safe && !d.reaped && !d.barred && !d.retired && w.machine.layout.Rank(d.Proc) == w.machine.layout.Rank(q.Proc)
	}
	switch {
	case p.Process != q || !p.leaving || p.reaped:
		return fmt.Errorf("%v is retired, and isn't to leave", q)
	case w.underWay(proto.AnyRank) > 0 || slices.ContainsFunc(w.joining, func(p *process) bool { return p != nil }):
		return fmt.Errorf("%v is retired during an attempt", q)
	case w.over:
		return fmt.Errorf("%v is retired after the end", q)
	case slices.Contains(w.missing, true):
		return fmt.Errorf("%v is retired, and another slot isn't filled yet: %v", q, w.missing)
	case !slices.ContainsFunc(w.bySlot, donates):
		return fmt.Errorf("%v is retired, and nothing can replace it", q)
	case w.here == nobody || !donates(w.bySlot[w.here.Proc]) || w.bySlot[w.here.Proc].Process != w.here:
		return fmt.Errorf("%v is retired, and its donor may be dead", q)
	}
	w.missing[q.Proc], p.retired = true, true
	if p.alive {
		p.die()
	}
	return nil
}

func (w *world) start(a *Attempt) error {
	slot, donor := w.bySlot[a.Proc], w.bySlot[a.Donor.Proc]
	switch {
	case w.underWay(w.machine.layout.Rank(a.Proc)) > 0 || w.joining[a.Proc] != nil:
		return fmt.Errorf("%v begins during another attempt for its rank", a.Process)
	case w.underWay(proto.AnyRank) >= w.most:
		return fmt.Errorf("%v begins, and %d attempts are under way", a.Process, w.most)
	case w.over:
		return fmt.Errorf("%v begins after the end", a.Process)
	case a.Incarnation <= w.last[a.Proc]:
		return fmt.Errorf("incarnation %d of %v is assigned twice", a.Incarnation, a.Proc)
	case !slot.reaped:
		return fmt.Errorf("%v is to replace %v, which lives", a.Process, slot.Process)
	case donor.Process != a.Donor || !donor.safe || donor.reaped || donor.barred || w.machine.layout.Rank(a.Proc) != w.machine.layout.Rank(donor.Proc):
		return fmt.Errorf("%v is the donor of %v, and can't be", a.Donor, a.Process)
	}
	if w.failures[a.Proc] >= MaxFailures {
		return fmt.Errorf("%v begins after %d failures", a.Process, w.failures[a.Proc])
	}
	w.last[a.Proc] = a.Incarnation
	w.trials[a.Proc] = trial{process: a.Process, underWay: true}
	if w.startFails {
		w.startFails = false
		return w.step(func(out *[]Action) { w.machine.Fail(a.Process, "it can't be started", Replacement, out) })
	}
	w.joining[a.Proc] = &process{Process: a.Process, alive: true, donor: a.Donor}
	return nil
}

// answered takes the answer to a mark.
func (w *world) answered(m mark) error {
	d := w.bySlot[m.donor.Proc]
	i := slices.Index(w.marks, m)
	if i < 0 || d.Process != m.donor {
		return fmt.Errorf("%v gets an answer about %v that it didn't ask for, or twice", m.donor, m.replacement)
	}
	if q := w.joining[m.replacement.Proc]; q != nil && q.Process == m.replacement && !q.reaped && !w.trials[q.Proc].follows {
		return fmt.Errorf("%v may give its state to %v, whose output doesn't follow", m.donor, q.Process)
	}
	w.marks = slices.Delete(slices.Clone(w.marks), i, i+1)
	d.receive(toldMarked, m.replacement)
	return nil
}

func (w *world) dismiss(a *Attempt) error {
	w.trials[a.Proc].dismissed = true
	p := w.joining[a.Proc]
	if a.Committed() {
		p = w.bySlot[a.Proc]
	}
	if p == nil { // it couldn't be started
		if err := w.step(func(out *[]Action) { w.machine.Died(w.now, a.Process, "it can't be started", out) }); err != nil {
			return err
		}
		return w.next()
	}
	if p.Process != a.Process || p.reaped {
		return fmt.Errorf("%v is dismissed, and %v is there", a.Process, p.Process)
	}
	if rank := w.machine.layout.Rank; w.cause.kind != evOver && w.cause.kind != evLeaderLost && rank(w.cause.process.Proc) != rank(a.Proc) {
		return fmt.Errorf("%v is dismissed, and %v has nothing to do with it", a.Process, w.cause)
	}
	if p.alive {
		if alone := !slices.ContainsFunc(w.bySlot, func(q *process) bool {
			return q != p && q.alive && w.machine.layout.Rank(q.Proc) == w.machine.layout.Rank(p.Proc)
		}); alone && p.stage >= committed && !p.hangs && !w.hereBeside(p) && w.cause.kind != evSuspect && w.cause.kind != evOver {
			return fmt.Errorf("%v is ended, and was the last of its rank (%v)", p.Process, w.cause)
		}
		p.die()
	}
	if !w.seesOutput { // a spare leader sends it away, and takes no more messages of it
		p.toLeader = nil
		return w.reap(p)
	}
	return nil
}

// hereBeside says whether another replica of a process's rank has answered just now.
func (w *world) hereBeside(p *process) bool {
	return w.here != nobody && w.here.Proc != p.Proc && w.bySlot[w.here.Proc].Process == w.here &&
		w.machine.layout.Rank(w.here.Proc) == w.machine.layout.Rank(p.Proc)
}

// ended takes the end of an attempt.
func (w *world) ended(a Action) error {
	q := a.Attempt.Process
	switch {
	case !w.trials[q.Proc].underWay:
		return fmt.Errorf("the attempt %v ends twice", q)
	case a.Kind == Healed && w.bySlot[q.Proc].Process != q, a.Kind == Failed && w.bySlot[q.Proc].Process == q, a.Text == "", (a.Kind == Failed) != (a.Attempt.Why != ""):
		return fmt.Errorf("the attempt %v ends, as %q", q, a.Text)
	}
	w.trials[q.Proc].underWay = false
	if a.Kind == Healed {
		w.bySlot[q.Proc].unproven = true
	}
	if a.Kind == Healed || w.over {
		return nil
	}
	switch d := w.bySlot[a.Attempt.Donor.Proc]; {
	case d.reaped: // not the replacement's fault
	case a.Attempt.blame == Replacement:
		w.failures[q.Proc]++
		w.missing[q.Proc] = w.missing[q.Proc] && w.failures[q.Proc] < MaxFailures
	case a.Attempt.blame == Donor:
		d.barred = true
	}
	return nil
}

// replicaDied notes the death of a replica. It is a failure if the replica was a replacement that
// didn't live for Relapse after all knew it.
func (w *world) replicaDied(p *process) {
	x := &w.trials[p.Proc]
	unknown := x.underWay && p.Process == x.process
	if unknown {
		x.underWay = false
	}
	if !p.retired {
		w.failures[p.Proc]++
	}
	if !unknown && !p.unproven {
		w.failures[p.Proc] = 0
	}
	w.missing[p.Proc] = w.missing[p.Proc] && w.failures[p.Proc] < MaxFailures
	for _, q := range w.bySlot {
		q.receive(toldDeath, p.Process)
	}
}

// End implements explore.World.
func (w *world) End() error {
	if len(w.machine.attempts) > 0 || w.underWay(proto.AnyRank) > 0 {
		return fmt.Errorf("an attempt doesn't end: %+v", w.trials)
	}
	if len(w.marks) > 0 {
		return fmt.Errorf("%v waits for an answer for ever", w.marks[0].donor)
	}
	for _, p := range w.bySlot {
		if p.alive && p.donating.Incarnation > 0 {
			return fmt.Errorf("%v gives its state to %v for ever", p.Process, p.donating)
		}
		donates := func(q *process) bool {
			return q.alive && q.safe && !q.barred && w.machine.layout.Rank(p.Proc) == w.machine.layout.Rank(q.Proc)
		}
		if !p.alive && !w.over && w.failures[p.Proc] < MaxFailures && slices.ContainsFunc(w.bySlot, donates) {
			return fmt.Errorf("the slot of %v stays vacant", p.Process)
		}
		others := func(q *process) bool { return q != p && donates(q) }
		if p.alive && p.leaving && !w.over && !slices.Contains(w.missing, true) && slices.ContainsFunc(w.bySlot, others) {
			return fmt.Errorf("%v doesn't leave", p.Process)
		}
	}
	return nil
}
