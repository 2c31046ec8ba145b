package rollback

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

type event struct {
	kind eventKind
	who  int
	from int // of evArrive and evSuspect
}

type eventKind uint8

const (
	evStep eventKind = iota // a program does what it does next
	evArrive
	evLine
	evReport
	evCopied
	evReaped
	evTake
	evLimit
	evStart
	evKill
	evHostDies
	evHeal   // a replacement is started
	evState  // it gets its donor's state
	evFill   // it is a replica
	evKnown  // all know it
	evHealed // the launcher knows that it has failed
	evKillReplacement
	evSuspect // who takes from for dead
	evFence   // the launcher kills a process for that
	evDecide  // a program decides from
	evRelease // what a program has sent waits no longer
)

var eventNames = [...]string{"step", "arrive", "line", "report", "copied", "reaped", "take", "limit", "start", "kill", "host dies",
	"heal", "state", "fill", "known", "heal failed", "kill replacement", "suspect", "fence", "decide", "release"}

func (e event) String() string {
	if e.kind == evArrive || e.kind == evSuspect || e.kind == evDecide {
		return fmt.Sprintf("%s:%d>%d", eventNames[e.kind], e.from, e.who)
	}
	return fmt.Sprintf("%s:%d", eventNames[e.kind], e.who)
}

// canStep says whether a program has something to do.
func (w *world) canStep(p *process) bool {
	switch {
	case !p.alive || p.finalised || p.Waits() || p.coming || p.doomed: // what a doomed one does changes nothing any more
		return false
	case p.receives:
		return len(p.held) > 0
	}
	return true
}

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	if w.failed != "" || w.ended {
		return dst
	}
	add := func(kind eventKind, who int, is bool) {
		if is {
			dst = append(dst, event{kind: kind, who: who})
		}
	}
	if e, ok := w.alone(); ok {
		return append(dst, e)
	}
	c := w.coordinator
	add(evStart, 0, w.restarting)
	for i, p := range w.procs {
		switch may := w.canStep(p) && w.mayBegin(i); {
		case may && w.mustDecide(i):
			for choice := range 1 + w.choices {
				dst = append(dst, event{evDecide, i, choice + 1})
			}
		case may:
			add(evStep, i, true)
		}
		add(evRelease, i, p.alive && p.waiting > 0 && !p.doomed)
		for from := range w.procs {
			if len(w.channels[w.channel(from, i)]) > 0 {
				dst = append(dst, event{evArrive, i, from})
			}
		}
		add(evLine, i, p.alive && len(w.lines[i]) > 0)
		add(evReport, i, slices.ContainsFunc(w.said, func(x word) bool { return int(x.from) == i }))
		add(evReaped, i, !p.alive && !p.reaped || p.finalised && p.alive && w.through())
		add(evKill, i, w.deaths > 0 && p.alive && !w.through() && (!w.ahead || w.isAhead(i)))
		add(evHeal, i, w.mayHeal(i))
		add(evFence, i, p.alive && p.doomed)
		for q, other := range w.procs {
			if w.suspicions > 0 && q != i && p.alive && !p.finalised && !p.doomed && !p.dead[q] && other.alive && !other.finalised {
				dst = append(dst, event{evSuspect, i, q})
			}
		}
	}
	for i, h := range w.heals {
		donor := w.procs[h.donor]
		add(evState, i, h.alive && h.state == nil && donor.alive && !donor.receives && donor.standing && donor.waiting == 0 && !donor.Loads() && !c.ending)
		add(evFill, i, h.alive && h.state != nil && !h.filled && !c.ending)
		add(evKnown, i, h.filled)
		add(evHealed, i, !h.filled && (!h.alive || h.state == nil && !donor.alive || c.ending))
		add(evKillReplacement, i, w.deaths > 0 && h.alive && !h.filled)
	}
	for i := range w.copying {
		add(evCopied, i, true)
	}
	add(evTake, 0, w.snapshots > 0 && (!w.ahead || w.deaths == 0) && c.phase == runs && c.taking == Beginning && !c.ending && (!c.joins() || w.bug == takenWhileJoining))
	add(evLimit, 0, w.limits > 0 && c.Deadline() != proto.Never)
	for h, s := range w.stores {
		add(evHostDies, h, w.hostDeaths > 0 && s != nil && !w.through())
	}
	return dst
}

// isAhead says whether a replica has sent more than each other one of its rank, two safe points at
// least.
func (w *world) isAhead(i int) bool {
	for _, q := range w.of(w.rank(i)) {
		if p := w.procs[q]; q != i && p.sent+1 >= w.procs[i].sent-w.procs[i].waiting {
			return false
		}
	}
	return true
}

// mayHeal says whether a replacement for a slot may be started.
func (w *world) mayHeal(i int) bool {
	p, c := w.procs[i], w.coordinator
	return w.replacements > 0 && p.reaped && !p.finalised && !p.alive && !w.restarting && w.donor(i) >= 0 &&
		(c.phase == runs && c.taking == Beginning || w.bug == healedMeanwhile) && c.phase != falls && !c.ending && len(w.heals) == 0
}

// donor is a live replica of the same rank, -1 if there is none.
func (w *world) donor(i int) int {
	for _, q := range w.of(w.rank(i)) {
		if p := w.procs[q]; q != i && p.alive && !p.finalised {
			return q
		}
	}
	return -1
}

// alone is an event that makes no difference to any other that may happen now, nor they to it.
func (w *world) alone() (event, bool) {
	c := w.coordinator
	for i, p := range w.procs {
		for from := range w.procs {
			x := w.channels[w.channel(from, i)]
			if len(x) == 0 || w.bug == oldAccepted {
				continue
			}
			if !p.alive || p.finalised || !p.Accepts(x[0].epoch) {
				return event{evArrive, i, from}, true // it is dropped
			}
			if n := p.received + len(p.held); x[0].marker == Beginning && x[0].number <= n {
				return event{evArrive, i, from}, true // likewise
			}
			if x[0].marker == Beginning && !w.layout.Replicated() && c.phase == runs && c.taking == Beginning && p.Idle() {
				return event{evArrive, i, from}, true // nothing looks at it but the program, which waits for it
			}
		}
		if j := slices.IndexFunc(w.said, func(x word) bool { return int(x.from) == i }); j >= 0 {
			x := w.said[j].report
			old := x.Epoch != c.epoch && w.bug != oldReports
			others := 0 // whose reports are yet to come
			for j := range c.members {
				others += truth(j != i && c.members[j].alive && !c.members[j].said)
			}
			fits := x.Kind == Holding && c.phase == holds || x.Kind == Paused && c.phase == stops || x.Kind == Captured && c.phase == saves
			if old || fits && others > 0 && !w.layout.Replicated() {
				return event{kind: evReport, who: i}, true
			}
		}
	}
	if c.phase == falls && w.hostDeaths == 0 {
		for i, p := range w.procs {
			if !p.alive && !p.reaped {
				return event{kind: evReaped, who: i}, true
			}
		}
	}
	return event{}, false
}

// through says whether all programs that run have finalised.
func (w *world) through() bool {
	for r := range w.ranks {
		done := false
		for _, i := range w.of(r) {
			p := w.procs[i]
			if p.alive && !p.finalised || !p.alive && !p.reaped {
				return false
			}
			done = done || p.finalised
		}
		if !done {
			return false
		}
	}
	return len(w.heals) == 0
}

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	switch e.kind {
	case evStep:
		return w.step(e.who)
	case evDecide:
		return w.decide(e.who, e.from)
	case evRelease:
		return w.release(e.who)
	case evArrive:
		return w.arrive(e.from, e.who)
	case evLine:
		l := w.lines[e.who][0]
		w.lines[e.who] = w.lines[e.who][1:]
		return w.hear(e.who, l)
	case evReport:
		i := slices.IndexFunc(w.said, func(x word) bool { return int(x.from) == e.who })
		x := w.said[i]
		w.said = slices.Delete(slices.Clone(w.said), i, i+1)
		return w.lead(func(out *[]Action) { w.coordinator.Heard(w.now, x.from, x.report, out) })
	case evCopied:
		a := w.copying[e.who]
		w.copying = slices.Delete(slices.Clone(w.copying), e.who, e.who+1)
		return w.copied(a)
	case evReaped:
		return w.reap(e.who)
	case evTake:
		w.snapshots--
		return w.lead(func(out *[]Action) { w.coordinator.Take(w.now, out) })
	case evLimit:
		w.limits--
		w.now = w.coordinator.Deadline()
		return w.lead(func(out *[]Action) { w.coordinator.Tick(w.now, out) })
	case evStart:
		return w.start()
	case evKill:
		w.deaths--
		w.procs[e.who].alive = false
	case evFence:
		w.procs[e.who].alive = false
	case evSuspect:
		w.suspect(e.who, e.from)
	case evHostDies:
		return w.loseHost(Host(e.who))
	default:
		return w.healing(e)
	}
	return nil
}

// reap takes the end of a process.
func (w *world) reap(i int) error {
	p, id := w.procs[i], proto.Proc(i)
	p.reaped, p.alive = true, false
	if p.finalised {
		w.ended = w.through()
		return w.lead(func(out *[]Action) { w.coordinator.Left(id, p.epoch, out) })
	}
	saved := slices.ContainsFunc(w.heals, func(h heal) bool {
		return h.state != nil && h.alive && w.layout.Rank(h.slot) == w.layout.Rank(id)
	})
	if err := w.lead(func(out *[]Action) { w.coordinator.Died(id, p.epoch, saved, out) }); err != nil || w.coordinator.phase == falls {
		return err
	}
	for q := range w.procs {
		if w.procs[q].alive {
			if err := w.tell(q, line{dead: id}); err != nil {
				return err
			}
		}
	}
	w.ended = w.through() && !slices.ContainsFunc(w.procs, func(p *process) bool { return p.finalised && !p.reaped })
	return nil
}

// loseHost has a host die with what is there.
func (w *world) loseHost(h Host) error {
	w.hostDeaths--
	w.stores[h] = nil
	for _, p := range w.procs {
		if p.home == h {
			p.alive = false
		}
	}
	for i := range w.heals {
		w.heals = slices.Clone(w.heals)
		w.heals[i].alive = w.heals[i].alive && w.heals[i].home != h
	}
	if len(w.living()) == 0 {
		w.failed = "no host is left" // the launcher ends the job
		return nil
	}
	return w.lead(func(out *[]Action) { w.coordinator.HostLost(h, w.buddies(), out) })
}

// healing is what happens to replacements.
func (w *world) healing(e event) error {
	if e.kind == evHeal {
		w.replacements--
		living := w.living()
		h := heal{slot: proto.Proc(e.who), donor: proto.Proc(w.donor(e.who)), home: living[len(living)-1], alive: true}
		w.heals = append(slices.Clone(w.heals), h)
		if w.bug == healedMeanwhile || w.bug == takenWhileJoining {
			return nil
		}
		return w.lead(func(*[]Action) { w.coordinator.Joins(h.slot) })
	}
	w.heals = slices.Clone(w.heals)
	h := &w.heals[e.who]
	switch e.kind {
	case evKillReplacement:
		w.deaths--
		h.alive = false
	case evState:
		d := w.procs[h.donor]
		q := *d
		q.Participant = NewParticipant(d.epoch, Beginning)
		q.SetPassed(d.Passed())
		q.to, q.home = nil, h.home
		h.state = &q
		for from := range w.procs { // what its predecessor had sent or would have got
			w.channels[w.channel(from, int(h.slot))] = nil
			w.channels[w.channel(int(h.slot), from)] = nil
		}
	case evFill:
		h.filled = true
		return w.fill(h)
	case evKnown, evHealed:
		slot := h.slot
		w.heals = slices.Delete(w.heals, e.who, e.who+1)
		return w.lead(func(out *[]Action) { w.coordinator.EndJoining(slot, out) })
	}
	return nil
}

// fill makes a replacement a replica. All know it at once: package replica has how.
func (w *world) fill(h *heal) error {
	i := int(h.slot)
	w.procs[i] = h.state
	w.said = slices.DeleteFunc(slices.Clone(w.said), func(x word) bool { return x.from == h.slot })
	h.state.dead = slices.Clone(h.state.dead)
	h.state.dead[i], h.state.reaped, h.state.doomed, h.state.fenced = false, false, false, make([]bool, len(w.procs))
	for q, p := range w.procs {
		p.dead, p.fenced = slices.Clone(p.dead), slices.Clone(p.fenced)
		p.dead[i], p.fenced[i] = false, false
		h.state.dead[q] = p.reaped && !p.alive && !p.finalised
	}
	w.lines[i] = nil
	for q := range w.lines { // of its predecessor
		w.lines[q] = slices.DeleteFunc(slices.Clone(w.lines[q]), func(l line) bool { return l.dead == h.slot })
	}
	for q, p := range w.procs {
		if p.alive && w.next(w.rank(q)) == w.rank(i) && slices.Contains(w.covered(q), i) {
			w.repeat(q, i)
		}
		if p.alive && w.next(w.rank(i)) == w.rank(q) && slices.Contains(w.covered(i), q) {
			w.repeat(i, q)
		}
	}
	return w.lead(func(*[]Action) { w.coordinator.Joined(h.slot, h.home, w.buddyOf(h.home)) })
}
