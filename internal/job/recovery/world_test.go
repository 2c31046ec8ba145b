package recovery

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// world is a job whose dead processes are replaced: the machine, its caller, and the processes. The
// processes do what real ones do in a recovery. A message travels until the leader takes it, even
// if its sender is dead. Only the order of one sender's messages is kept.
type world struct {
	options
	machine    *Machine
	now        proto.Time
	bySlot     []*process // dead or alive
	joining    []*process // by slot: the replacement that doesn't fill it yet; nil: none
	former     []*process // don't fill a slot any more, or never did, and may have messages on their way
	drains     []mark     // output that is being read
	marks      []mark     // sent, and not answered yet
	startFails bool       // the next replacement can't be started
	here       Process    // has just answered

	model
}

// options say what may happen.
type options struct {
	seesOutput      bool
	faults          int  // how many
	initialFailures int  // if not 0, process 0 is dead at first, and so many replacements have failed
	safe            bool // at first all processes have come to their first safe points
	ends            bool // whether the job may come to its end
	hangs           bool // whether a replacement may hang
	leaves          int  // how many processes may have to leave
	most            int  // attempts at a time, 0 for one
	dead            int  // so many processes are dead at first: of different ranks
	leaders         int  // so many leaders may be lost
	bug             bug
}

// event is one step.
type event struct {
	kind    eventKind
	process Process // zero for events of no process
}

type eventKind uint8

const (
	evReceive eventKind = iota // the leader takes a message of a process
	evTold                     // a donor hears of the death of its replacement, a replacement that it should give up
	evReaped                   // the leader hears of a death
	evSafe                     // a process comes to its first safe point
	evArrive                   // a replacement can be reached
	evMark                     // a donor is paused
	evCommit                   // the replacement has its donor's state
	evHeal                     // all know that
	evOrphan                   // a replacement finds its donor dead
	evDrained                  // a donor's output is read
	evProven                   // the last replacement has lived for Relapse
	evLeave                    // a process is to leave
	// Faults, and the job's end.
	evKill       // a process dies
	evFail       // a replacement says that it can't go on
	evBarDonor   // a replacement says that its donor's state is of no use
	evSuspect    // another process holds the replacement for dead
	evHang       // a replacement does nothing any more
	evLimit      // a phase takes too long
	evStartFails // the next replacement can't be started
	evLeaderLost // another one goes on
	evOver       // the job ends
)

var eventNames = [...]string{"receive", "told", "reaped", "safe", "arrive", "mark", "commit", "heal", "orphan", "drained", "proven", "leave",
	"kill", "fail", "bar donor", "suspect", "hang", "limit", "start fails", "leader lost", "over"}

func (e event) String() string {
	if e.kind == evOver || e.kind == evProven || e.kind == evStartFails || e.kind == evLeaderLost {
		return eventNames[e.kind]
	}
	return fmt.Sprintf("%s:%d.%d", eventNames[e.kind], e.process.Proc, e.process.Incarnation)
}

func newWorld(layout layout.Layout, o options) *world {
	o.most = max(o.most, 1)
	w := &world{options: o, machine: New(layout, time.Minute, o.seesOutput, o.most), here: nobody}
	w.last, w.failures = make([]proto.Incarnation, layout.Procs()), make([]int, layout.Procs())
	w.missing, w.joining, w.trials = make([]bool, layout.Procs()), make([]*process, layout.Procs()), make([]trial, layout.Procs())
	for p := range proto.Proc(layout.Procs()) {
		w.bySlot = append(w.bySlot, &process{Process: Process{p, 0}, stage: whole, alive: true, safe: o.safe})
		if o.safe {
			w.machine.Healable(Process{p, 0})
			w.bySlot[p].said = []message{{kind: healable}}
		}
	}
	if o.initialFailures > 0 {
		w.bySlot[0].alive, w.bySlot[0].reaped, w.machine.table[0].vacant, w.machine.waiting = false, true, true, []proto.Proc{0}
		w.failures[0], w.machine.table[0].failures = o.initialFailures, o.initialFailures
	}
	for p := range proto.Proc(o.dead) {
		w.bySlot[p].alive, w.bySlot[p].reaped = false, true
		w.machine.vacate(0, p)
	}
	if o.dead > 0 {
		if err := w.next(); err != nil {
			panic(err) // the exploration finds this, too
		}
	}
	return w
}

// each calls do for all processes that may still act or have messages on their way.
func (w *world) each(do func(p *process)) {
	for _, p := range w.bySlot {
		do(p)
	}
	for _, p := range w.former {
		do(p)
	}
	for _, p := range w.joining {
		if p != nil {
			do(p)
		}
	}
}

// process is the process with this slot and incarnation, nil if it can't act any more and has no
// messages on their way.
func (w *world) process(id Process) (found *process) {
	w.each(func(p *process) {
		if p.Process == id {
			found = p
		}
	})
	return found
}

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	add := func(kind eventKind, of Process, is bool) {
		if is {
			dst = append(dst, event{kind, of})
		}
	}
	w.each(func(p *process) {
		q := p.Process
		replacement := p.stage < whole
		donor := w.process(p.donor)
		gives := replacement && donor != nil && donor.alive && donor.donating == q && donor.paused && (donor.marked || !w.seesOutput)
		add(evReceive, q, len(p.toLeader) > 0)
		add(evReaped, q, !p.alive && !p.reaped)
		if !p.alive {
			return
		}
		target := w.process(p.donating)
		if p.hangs {
			add(evKill, q, w.faults > 0)
			return
		}
		add(evTold, q, len(p.fromLeader) > 0)
		add(evSafe, q, p.stage == whole && !p.safe)
		add(evLeave, q, w.leaves > 0 && p == w.bySlot[q.Proc] && !p.leaving && !w.over)
		add(evArrive, q, p.stage == started)
		add(evMark, q, p.donating.Incarnation > 0 && !p.paused && target != nil && target.stage == arrived)
		add(evCommit, q, p.stage == arrived && gives)
		add(evHeal, q, p.stage == committed)
		add(evOrphan, q, p.stage == arrived && p.knowsDonor && (donor == nil || !donor.alive))
		if w.faults > 0 {
			add(evKill, q, true)
			add(evFail, q, p.stage == arrived)
			add(evBarDonor, q, p.stage == arrived && gives)
			add(evSuspect, q, replacement && w.machine.of(q, GetReady, BecomeKnown) != nil)
			add(evHang, q, w.hangs && replacement && p.stage > started)
		}
	})
	for _, m := range w.drains {
		dst = append(dst, event{evDrained, m.replacement})
	}
	none := Process{}
	add(evProven, none, slices.ContainsFunc(w.machine.table, func(s slot) bool { return s.proven > w.now && s.proven != proto.Never }))
	for _, a := range w.machine.attempts {
		// The limit is longer than an answer takes.
		fresh := w.process(a.Process)
		add(evLimit, a.Process, !a.dismissed && (w.faults > 0 || fresh != nil && fresh.hangs) &&
			!(a.asked && fresh != nil && fresh.alive && !fresh.hangs && fresh.isAsked()))
	}
	add(evStartFails, none, w.faults > 0 && len(w.machine.attempts) < w.most && !w.startFails)
	add(evLeaderLost, none, w.leaders > 0)
	add(evOver, none, w.ends && !w.over)
	return dst
}

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	if e.kind >= evKill && e.kind < evLeaderLost && w.faults > 0 {
		w.faults--
	}
	w.cause = e
	p := w.process(e.process)
	var err error
	lead := func(tell func(out *[]Action)) { err = w.lead(tell) }
	switch e.kind {
	case evReceive:
		said := p.toLeader[0]
		p.toLeader = p.toLeader[1:]
		lead(func(out *[]Action) { w.passOn(p, said, out) })
		w.here = nobody
	case evTold:
		told := p.fromLeader[0].kind
		p.fromLeader = p.fromLeader[1:]
		switch {
		case told == toldDeath:
			p.stopDonating()
		case p.stage >= committed:
			p.send(saysCommitted, Process{})
		default:
			p.send(saysFailed, Process{})
			p.die()
		}
		p.takeIn()
		w.learnDonor(p)
	case evReaped:
		err = w.reap(p)
	case evSafe:
		p.safe = true
		p.send(healable, Process{})
	case evLeave:
		w.leaves--
		p.leaving = true
		lead(func(*[]Action) { w.machine.Leave(p.Process) })
	case evArrive:
		p.stage = arrived
		p.send(saysArrived, Process{})
	case evMark:
		p.paused = true
		p.send(saysMark, p.donating)
		if w.seesOutput {
			w.marks = append(w.marks, mark{p.Process, p.donating})
		}
	case evCommit:
		p.stage = committed
		p.send(saysCommitted, Process{})
	case evHeal:
		p.stage, p.safe = whole, true
		p.send(saysHealed, Process{})
		p.send(healable, Process{})
		if d := w.process(p.donor); d != nil && d.donating == p.Process {
			d.stopDonating()
		}
	case evOrphan, evFail:
		p.send(saysFailed, Process{})
		p.die()
	case evBarDonor:
		p.send(saysUnhealable, Process{})
		p.die()
	case evDrained:
		i := slices.IndexFunc(w.drains, func(m mark) bool { return m.replacement == e.process })
		m := w.drains[i]
		w.drains = slices.Delete(slices.Clone(w.drains), i, i+1)
		lead(func(out *[]Action) { w.machine.Drained(m.donor, m.replacement, out) })
	case evProven:
		w.pass(proto.Time(Relapse), nil)
	case evKill:
		p.die()
	case evHang:
		p.hangs = true
	case evSuspect:
		lead(func(out *[]Action) { w.machine.Fail(e.process, "another process holds it for dead", Replacement, out) })
	case evLimit:
		a := w.machine.AttemptAt(e.process.Proc)
		w.pass(a.deadline-w.now, a)
		lead(func(out *[]Action) { w.machine.Tick(w.now, out) })
	case evStartFails:
		w.startFails = true
	case evLeaderLost:
		w.leaders--
		err = w.succeed()
	case evOver:
		w.over = true
		lead(w.machine.Over)
	}
	w.former = slices.DeleteFunc(w.former, func(p *process) bool { return p.reaped && len(p.toLeader) == 0 })
	return err
}

// learnDonor notes that the replacement has heard from its donor, if the process is that donor.
func (w *world) learnDonor(donor *process) {
	if q := w.joining[donor.donating.Proc]; q != nil && donor.donating == q.Process {
		q.knowsDonor = true
	}
}

// pass lets time pass. It counts for one attempt only: the others have begun their phases later.
func (w *world) pass(time proto.Time, late *Attempt) {
	w.now += time
	for _, a := range w.machine.attempts {
		if a != late {
			a.deadline += time
		}
	}
	w.each(func(p *process) { p.unproven = false })
}

// passOn tells the machine what a process said, as the real callers do.
func (w *world) passOn(p *process, m message, out *[]Action) {
	q := w.bug.sender(w, p, &m)
	switch m.kind {
	case healable:
		w.machine.Healable(q)
	case saysArrived:
		w.machine.Arrived(w.now, q, out)
	case saysMark:
		w.machine.Mark(w.now, q, m.replacement, out)
	case saysCommitted:
		w.machine.Committed(w.now, q, out)
	case saysHealed:
		w.machine.Healed(w.now, q, 1, out)
	case saysFailed:
		w.machine.Fail(q, "it can't", Replacement, out)
	case saysUnhealable:
		w.machine.Fail(q, "no replacement can", Donor, out)
	case saysHere:
		w.here = q
		w.machine.Heard(q, asks(w.machine, q)) // old numbers: see TestOldAnswer
	}
}

// reap tells the machine of the death of a process.
func (w *world) reap(p *process) error {
	p.reaped = true
	w.marks = slices.DeleteFunc(slices.Clone(w.marks), func(m mark) bool { return m.donor == p.Process })
	joins := w.joining[p.Proc] == p
	if !joins {
		w.replicaDied(p)
	}
	if !w.bug.ignoresDeath(w, p) {
		if err := w.step(func(out *[]Action) { w.machine.Died(w.now, p.Process, "it died", out) }); err != nil {
			return err
		}
	}
	if joins {
		w.former, w.joining[p.Proc] = append(w.former, p), nil
		if x := &w.trials[p.Proc]; x.underWay || x.admitted && !x.deathTold {
			return fmt.Errorf("%v has died, and its attempt isn't at its end, or the others aren't told", p.Process)
		}
	}
	return w.next()
}

// lead tells the machine something, carries out its actions, and has it begin the next attempt if
// it can.
func (w *world) lead(tell func(out *[]Action)) error {
	if err := w.step(tell); err != nil {
		return err
	}
	return w.next()
}

// next has the machine begin all attempts that can begin.
func (w *world) next() error {
	for began := true; began; {
		if err := w.step(func(out *[]Action) { began = w.bug.next(w, out) }); err != nil {
			return err
		}
	}
	return w.idle()
}

func (w *world) nextOf(m *Machine, out *[]Action) (began bool) {
	return m.Next(w.now, func(proto.Proc) bool { return true }, func(p proto.Proc) bool { return !w.bySlot[p].reaped }, out)
}

func (w *world) step(tell func(out *[]Action)) error {
	var out []Action
	w.bug.before(w)
	tell(&out)
	for _, a := range w.bug.actions(w, out) {
		if err := w.carryOut(a); err != nil {
			return err
		}
	}
	return nil
}
