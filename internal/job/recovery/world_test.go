package recovery

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// world is a job whose dead are replaced: the Healing that leads that, its caller, and the processes, which do what real ones
// do as far as it is about replacements. What processes say is on its way until it is heard, also when
// they are dead; only the order of what one says is kept.
type world struct {
	options
	h      *Healing
	now    proto.Time
	seated []*process // by place, dead or alive
	other  *process   // the replacement that has no place yet; nil: none
	past   []*process // have been replaced, or never had a place, but not all that they said has been heard
	drains []mark     // on their way
	asked  []mark     // said, and not answered yet
	refuse bool       // the next replacement can't be started

	promises
}

// options are what may happen.
type options struct {
	witness  bool
	faults   int  // how many
	failures int  // the first process is dead, and so many replacements to its place have failed, before anything happens
	safe     bool // all have come to their first safe points before anything happens
	ends     bool // whether the job may come to its end
	bug      bug
}

// stage is how far a process is in becoming a replica.
type stage uint8

const (
	started stage = iota
	arrived
	committed
	whole
)

// process is one of the job.
type process struct {
	Process
	stage    stage
	alive    bool
	reaped   bool    // its death has been told
	safe     bool    // it has come to a safe point
	barred   bool    // a replacement has said that nobody could have its state, which was heard
	young    bool    // not long since all know it
	donor    Process // of a replacement
	met      bool    // it has heard of that
	up, down []word

	donating Process // the replacement that it is the donor of; its Life is 0 if there is none
	paused   bool
	marked   bool
}

// word is something said.
type word struct {
	kind        wordKind
	replacement Process
}

type wordKind uint8

const (
	healable wordKind = iota
	saysArrived
	saysMark
	saysCommitted
	saysHealed
	saysFailed
	saysUnhealable
	// What processes are told.
	toldDonate
	toldMarked
	toldDeath
)

// event is one step.
type event struct {
	kind eventKind
	who  Process // of most
}

type eventKind uint8

const (
	evHear    eventKind = iota // what a process said
	evTell                     // a donor hears of the death of its replacement
	evReap                     // a process that is dead
	evSafe                     // a process comes to its first safe point
	evArrive                   // a replacement does what it is there for
	evMark                     // a donor is paused
	evCommit                   // the replacement has its state
	evHeal                     // all know that
	evOrphan                   // a replacement finds its donor dead
	evDrained                  // a donor's output is read
	evAge                      // the last replacement has proven itself
	evKill                     // faults from here on
	evFail                     // a replacement says that it can't
	evBar                      // or that nobody could
	evSuspect                  // somebody holds it for dead
	evLimit                    // it takes too long
	evRefuse                   // the next one can't be started
	evOver                     // the job's end
)

var eventNames = [...]string{"hear", "tell", "reap", "safe", "arrive", "mark", "commit", "heal", "orphan", "drained", "age",
	"kill", "fail", "bar", "suspect", "limit", "refuse", "over"}

func (e event) String() string {
	if e.kind == evOver || e.kind == evAge || e.kind == evLimit || e.kind == evRefuse {
		return eventNames[e.kind]
	}
	return fmt.Sprintf("%s:%d.%d", eventNames[e.kind], e.who.Proc, e.who.Incarnation)
}

func newWorld(layout layout.Layout, o options) *world {
	w := &world{options: o, h: New(layout, time.Minute, o.witness)}
	w.given, w.failed = make([]proto.Incarnation, layout.Procs()), make([]int, layout.Procs())
	for p := range proto.Proc(layout.Procs()) {
		w.seated = append(w.seated, &process{Process: Process{p, 0}, stage: whole, alive: true, safe: o.safe})
		if o.safe {
			w.h.Healable(Process{p, 0})
		}
	}
	if o.failures > 0 {
		w.seated[0].alive, w.seated[0].reaped, w.h.places[0].vacant, w.h.waiting = false, true, true, []proto.Proc{0}
		w.failed[0], w.h.places[0].failures = o.failures, o.failures
	}
	return w
}

// each is about all processes of whom anything may yet come.
func (w *world) each(do func(p *process)) {
	for _, p := range w.seated {
		do(p)
	}
	for _, p := range w.past {
		do(p)
	}
	if w.other != nil {
		do(w.other)
	}
}

// find is the process that is meant, nil if nothing comes of it any more.
func (w *world) find(who Process) (found *process) {
	w.each(func(p *process) {
		if p.Process == who {
			found = p
		}
	})
	return found
}

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	add := func(kind eventKind, who Process, is bool) {
		if is {
			dst = append(dst, event{kind, who})
		}
	}
	w.each(func(p *process) {
		q := p.Process
		replacement := p.stage < whole
		donor := w.find(p.donor)
		gives := replacement && donor != nil && donor.alive && donor.donating == q && donor.paused && (donor.marked || !w.witness)
		add(evHear, q, len(p.up) > 0)
		add(evReap, q, !p.alive && !p.reaped)
		if !p.alive {
			return
		}
		target := w.find(p.donating)
		add(evTell, q, len(p.down) > 0)
		add(evSafe, q, p.stage == whole && !p.safe)
		add(evArrive, q, p.stage == started)
		add(evMark, q, p.donating.Incarnation > 0 && !p.paused && target != nil && target.stage == arrived)
		add(evCommit, q, p.stage == arrived && gives)
		add(evHeal, q, p.stage == committed)
		add(evOrphan, q, p.stage == arrived && p.met && (donor == nil || !donor.alive))
		if w.faults > 0 {
			add(evKill, q, true)
			add(evFail, q, p.stage == arrived)
			add(evBar, q, p.stage == arrived && gives)
			add(evSuspect, q, replacement && w.h.of(q, GetReady, BecomeKnown) != nil)
		}
	})
	for _, m := range w.drains {
		dst = append(dst, event{evDrained, m.replacement})
	}
	none := Process{}
	add(evAge, none, w.h.Now() == nil && slices.ContainsFunc(w.h.places, func(s place) bool { return s.proven > w.now && s.proven != proto.Never }))
	add(evLimit, none, w.faults > 0 && w.h.Deadline() != proto.Never)
	add(evRefuse, none, w.faults > 0 && w.h.Now() == nil && !w.refuse)
	add(evOver, none, w.ends && !w.over)
	return dst
}

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	if e.kind >= evKill && e.kind != evOver {
		w.faults--
	}
	p := w.find(e.who)
	var err error
	lead := func(tell func(out *[]Action)) { err = w.lead(tell) }
	switch e.kind {
	case evHear:
		said := p.up[0]
		p.up = p.up[1:]
		lead(func(out *[]Action) { w.heard(p, said, out) })
	case evTell:
		p.stopDonating()
		p.down = p.down[1:]
		p.listen()
		w.meet(p)
	case evReap:
		err = w.reap(p)
	case evSafe:
		p.safe = true
		p.say(healable, Process{})
	case evArrive:
		p.stage = arrived
		p.say(saysArrived, Process{})
	case evMark:
		p.paused = true
		p.say(saysMark, p.donating)
		if w.witness {
			w.asked = append(w.asked, mark{p.Process, p.donating})
		}
	case evCommit:
		p.stage = committed
		p.say(saysCommitted, Process{})
	case evHeal:
		p.stage, p.safe = whole, true
		p.say(saysHealed, Process{})
		p.say(healable, Process{})
		if d := w.find(p.donor); d != nil && d.donating == p.Process {
			d.stopDonating()
		}
	case evOrphan, evFail:
		p.say(saysFailed, Process{})
		p.die()
	case evBar:
		p.say(saysUnhealable, Process{})
		p.die()
	case evDrained:
		i := slices.IndexFunc(w.drains, func(m mark) bool { return m.replacement == e.who })
		m := w.drains[i]
		w.drains = slices.Delete(slices.Clone(w.drains), i, i+1)
		lead(func(out *[]Action) { w.h.Drained(m.donor, m.replacement, out) })
	case evAge:
		w.pass(proto.Time(Relapse))
	case evKill:
		p.die()
	case evSuspect:
		lead(func(out *[]Action) { w.h.Fail(e.who, "somebody holds it for dead", Replacement, out) })
	case evLimit:
		w.pass(w.h.Deadline() - w.now)
		lead(func(out *[]Action) { w.h.Tick(w.now, out) })
	case evRefuse:
		w.refuse = true
	case evOver:
		w.over = true
		lead(w.h.Over)
	}
	w.past = slices.DeleteFunc(w.past, func(p *process) bool { return p.reaped && len(p.up) == 0 })
	return err
}

// meet is the first that a replacement hears of its donor.
func (w *world) meet(donor *process) {
	if w.other != nil && donor.donating == w.other.Process {
		w.other.met = true
	}
}

// pass lets time pass.
func (w *world) pass(time proto.Time) {
	w.now += time
	w.each(func(p *process) { p.young = false })
}

func (p *process) say(kind wordKind, about Process) {
	p.up = append(slices.Clone(p.up), word{kind, about})
}

func (p *process) tell(kind wordKind, about Process) {
	if p.alive {
		p.down = append(slices.Clone(p.down), word{kind, about})
		p.listen()
	}
}

// listen takes in what a process was told, up to the death of the replacement that it is the donor of: all that makes a difference is
// whether it hears of that before it is paused.
func (p *process) listen() {
	for len(p.down) > 0 && p.down[0] != (word{toldDeath, p.donating}) {
		switch m := p.down[0]; {
		case m.kind == toldDonate && p.safe && p.donating.Incarnation == 0:
			p.donating = m.replacement
		case m.kind == toldMarked && p.donating == m.replacement:
			p.marked = true
		}
		p.down = p.down[1:]
	}
}

func (p *process) die() {
	p.alive, p.down = false, nil
	p.stopDonating()
}

func (p *process) stopDonating() { p.donating, p.paused, p.marked = Process{}, false, false }

// heard has what a process said told as the callers do.
func (w *world) heard(p *process, m word, out *[]Action) {
	q := w.bug.heard(w, p, &m)
	switch m.kind {
	case healable:
		w.h.Healable(q)
	case saysArrived:
		w.h.Arrived(w.now, q, out)
	case saysMark:
		w.h.Mark(w.now, q, m.replacement, out)
	case saysCommitted:
		w.h.Committed(w.now, q, out)
	case saysHealed:
		w.h.Healed(w.now, q, 1, out)
	case saysFailed:
		w.h.Fail(q, "it can't", Replacement, out)
	case saysUnhealable:
		w.h.Fail(q, "nobody could", Donor, out)
	}
}

// reap has the death of a process told.
func (w *world) reap(p *process) error {
	p.reaped = true
	w.asked = slices.DeleteFunc(slices.Clone(w.asked), func(m mark) bool { return m.donor == p.Process })
	if p != w.other {
		w.replicaDied(p)
	}
	if !w.bug.deaf(w, p) {
		if err := w.step(func(out *[]Action) { w.h.Died(w.now, p.Process, "it died", out) }); err != nil {
			return err
		}
	}
	if p == w.other {
		w.past, w.other = append(w.past, p), nil
		if w.open || w.admitted && !w.buried {
			return fmt.Errorf("%v has died, and its attempt isn't at its end, or the others aren't told", p.Process)
		}
	}
	return w.next()
}

// lead tells the Healing something, carries out what that wants, and has the next replacement started if that can be.
func (w *world) lead(tell func(out *[]Action)) error {
	if err := w.step(tell); err != nil {
		return err
	}
	return w.next()
}

func (w *world) next() error {
	return w.step(func(out *[]Action) {
		w.h.Next(w.now, func(proto.Proc) bool { return true }, func(p proto.Proc) bool { return !w.seated[p].reaped }, out)
	})
}

func (w *world) step(tell func(out *[]Action)) error {
	var out []Action
	w.bug.before(w)
	tell(&out)
	for _, a := range w.bug.acts(w, out) {
		if err := w.carryOut(a); err != nil {
			return err
		}
	}
	return nil
}

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	flags := func(is ...bool) {
		bits := byte(0)
		for i, x := range is {
			if x {
				bits |= 1 << i
			}
		}
		b = append(b, bits)
	}
	who := func(q Process) { b = append(b, byte(q.Proc), byte(q.Incarnation)) }
	marks := func(ms []mark) {
		b = append(b, byte(len(ms)))
		for _, m := range ms {
			who(m.donor)
			who(m.replacement)
		}
	}
	words := func(ws []word) {
		b = append(b, byte(len(ws)))
		for _, m := range ws {
			b = append(b, byte(m.kind))
			who(m.replacement)
		}
	}
	flags(w.refuse, w.over, w.other != nil)
	flags(w.open, w.admitted, w.follows, w.dismissed, w.buried)
	who(w.trying)
	b = append(b, byte(w.faults), byte(len(w.past)))
	if a := w.h.now; a == nil {
		b = append(b, 0)
	} else {
		b = append(b, 1, byte(a.Part), byte(a.blame))
		who(a.Process)
		who(a.Donor)
		flags(a.orphan, a.follows, a.dismissed)
		b = binary.AppendVarint(b, int64(a.deadline-w.now))
	}
	marks(w.h.owed)
	marks(w.drains)
	marks(w.asked)
	for p, s := range w.h.places {
		flags(s.vacant, s.healable, s.barred, s.proven > w.now, s.proven == proto.Never)
		b = append(b, byte(s.given), byte(s.incarnation), byte(s.failures), byte(w.given[p]), byte(w.failed[p]))
	}
	for _, p := range w.h.waiting {
		b = append(b, byte(p))
	}
	b = append(b, 255)
	w.each(func(p *process) {
		who(p.Process)
		who(p.donor)
		who(p.donating)
		b = append(b, byte(p.stage))
		flags(p.alive, p.reaped, p.safe, p.barred, p.young, p.paused, p.marked, p.met)
		words(p.up)
		words(p.down)
	})
	return b
}

// Clone implements explore.World. The words of processes are written over nowhere.
func (w *world) Clone() *world {
	c := *w
	h := *w.h
	c.h = &h
	h.places, h.waiting, h.owed = slices.Clone(h.places), slices.Clone(h.waiting), slices.Clone(h.owed)
	if h.now != nil {
		a := *h.now
		h.now = &a
	}
	clone := func(p *process) *process {
		if p == nil {
			return nil
		}
		q := *p
		return &q
	}
	c.seated, c.past = slices.Clone(w.seated), slices.Clone(w.past)
	for _, ps := range [][]*process{c.seated, c.past} {
		for i, p := range ps {
			ps[i] = clone(p)
		}
	}
	c.other = clone(w.other)
	c.given, c.failed = slices.Clone(w.given), slices.Clone(w.failed)
	return &c
}
