package detector

import (
	"slices"

	"banyan/internal/proto"
)

// Config says which process it is and how patient.
type Config struct {
	Self        proto.Proc
	Incarnation proto.Incarnation // of this process, as in the view
	View        *View             // with Self in it
	// Period (η) is the time between heartbeats, Timeout (δ) the silence that
	// is taken for a death.
	Period, Timeout proto.Time
	// Witness says that a witness, such as a launcher, sees every death and tells all. Then no
	// process broadcasts a certain death before η has passed: news that is told twice arrives
	// later.
	Witness bool
	// Local says that the witness is on the host of all processes. Then it ends a silent one at
	// once, and the news of silence waits for it, too. It can't end one on a host that it doesn't
	// reach, so elsewhere the observer of a silent process tells at once.
	Local bool
	// Opinions is how many others are asked, each time, before a silent process is taken for
	// dead (see [Machine.Probe]). If it is 0 none is.
	Opinions uint8
}

// Machine is the detector of one process. Its size doesn't depend on the number
// of processes, but for those gone. [Machine.Start] makes a zero Machine ready.
type Machine struct {
	cfg Config

	// gone are the members known to be gone. It is changed in place only while
	// it isn't shared.
	gone    roll
	shared  bool
	unheard bool       // no heartbeat of this emitter yet
	helper  proto.Proc // that was asked last for an opinion
	hash    uint64     // of the digest
	// tellers[i] is a process that is known to have told all of gone[i]: this
	// process, or else the source of a broadcast with it that came by. NoProc if
	// there is none.
	tellers []proto.Proc
	held    []holding // deaths to tell of unless another process does

	emitter  proto.Proc // NoProc if no other process is left
	observer proto.Proc // NoProc too
	// extra are processes of other views that observe this one as well: see Install.
	extra   []extraObserver
	excused []proto.Proc

	heard     proto.Time // its last heartbeat, or since when it is the emitter
	suspectAt proto.Time // Never while it is excused
	askAt     proto.Time // others are to be asked about its silence; Never: not (again)
	doubted   proto.Time // since when others are asked about it; Never: they aren't
	beatAt    proto.Time // the next heartbeat is due
	oweUntil  proto.Time // its duty of telling is put off until then (see Config.Witness), or Never

	doubt uint64 // the emitter's and the own digest when they last differed; 0: they agreed
}

// New makes the machine of a process that starts, with all members of the view alive. The
// first heartbeat goes out at once.
func New(cfg Config, now proto.Time, out *Actions) *Machine {
	m := new(Machine)
	m.Start(cfg, now, out)
	return m
}

// Start is New in place, for drivers that keep many machines in one slice.
func (m *Machine) Start(cfg Config, now proto.Time, out *Actions) {
	*m = Machine{cfg: cfg, emitter: proto.NoProc, observer: proto.NoProc, helper: cfg.Self, oweUntil: proto.Never}
	if ring := cfg.View.Ring; ring.Len() > 1 {
		m.observer = ring.Next(cfg.Self)
		m.observe(now, ring.Prev(cfg.Self))
		m.beatAt = now
		m.beat(now, out)
	}
}

// Alive tells whether a process is a member and isn't known to have died. One that
// has left in order didn't die.
func (m *Machine) Alive(p proto.Proc) bool {
	if len(m.gone) == 0 {
		return m.cfg.View.Ring.Position(p) >= 0
	}
	e, gone := m.lookup(p)
	return (!gone || e.Left) && m.cfg.View.Ring.Position(p) >= 0
}

// Gone gives the members known to be gone, by position on the ring. The slice mustn't be
// changed; it is valid until the next call.
func (m *Machine) Gone() []Entry { return m.gone }

// Observer is the process that gets this one's heartbeats, NoProc if there is none.
func (m *Machine) Observer() proto.Proc { return m.observer }

// Emitter is the process whose heartbeats this one watches, NoProc if there is none.
func (m *Machine) Emitter() proto.Proc { return m.emitter }

// Heard is when the emitter was heard last, or since when it is the emitter.
func (m *Machine) Heard() proto.Time { return m.heard }

// Deadline is when Tick has to be called next, Never if alone.
func (m *Machine) Deadline() proto.Time {
	d := m.Beat()
	if m.emitter != proto.NoProc {
		d = min(d, m.suspectAt, m.askAt)
	}
	for i := range m.held {
		d = min(d, m.held[i].tellAt)
	}
	return min(d, m.oweUntil)
}

// Beat is when the next heartbeat is due, Never if nobody gets any. A Tick that is a little late
// delays this one, not those after it.
func (m *Machine) Beat() proto.Time {
	if m.observer == proto.NoProc && len(m.extra) == 0 {
		return proto.Never
	}
	return m.beatAt
}

// Tick lets time pass (tasks T1 and T3). Frames that have arrived should be
// handed over first.
func (m *Machine) Tick(now proto.Time, out *Actions) {
	m.wake(now)
	if now >= m.beatAt {
		m.beat(now, out)
	}
	if m.emitter != proto.NoProc && now >= m.askAt {
		m.ask(now, out)
	}
	if m.emitter != proto.NoProc && now >= m.suspectAt {
		m.suspect(now, out)
	}
	due := now >= m.oweUntil
	for i := range m.held {
		due = due || now >= m.held[i].tellAt
	}
	if due {
		m.broadcast(out)
	}
}

// Evidence takes certain knowledge of the death of a process in all incarnations
// up to one. It ignores what it knows already.
func (m *Machine) Evidence(now proto.Time, p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	m.wake(now)
	e := Entry{Proc: p, Incarnation: incarnation}
	if p != m.cfg.Self && m.learn(e, Report{Cause: CauseEvidence, By: m.cfg.Self}, out) {
		m.hold(now, p)
		m.settle(now, out)
	}
}

// Testify tells the observer of a process at once that it has died, by the certain knowledge of
// this one. Else the observer would learn of it by its silence, or when the back-off of this
// process is over.
func (m *Machine) Testify(now proto.Time, p proto.Proc, out *Actions) {
	m.wake(now)
	if e, gone := m.lookup(p); !gone || e.Left {
		return
	}
	if to := m.clockwise(p); to != proto.NoProc {
		m.sendAll(to, false, out)
	}
}

// Left takes the goodbye of a process: it leaves the ring, and is not dead. This process may tell
// others of it.
func (m *Machine) Left(now proto.Time, p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	m.wake(now)
	if p != m.cfg.Self && m.learn(Entry{p, incarnation, true}, Report{Cause: CauseEvidence, By: m.cfg.Self}, out) {
		m.settle(now, out)
	}
}

// Stranger answers a frame of any kind that came from an excluded incarnation: it
// is live after all, or was when it sent, and must learn that it is excluded. The first
// frame of a higher incarnation proves that the lower ones are dead.
func (m *Machine) Stranger(now proto.Time, from proto.Proc, incarnation proto.Incarnation, out *Actions) {
	m.wake(now)
	m.admits(now, from, m.cfg.View.Number, incarnation, out)
}

// Eviction takes an eviction notice: another process's word that this one is dead, in its
// incarnations up to one.
func (m *Machine) Eviction(_ proto.Time, from proto.Proc, incarnation proto.Incarnation, out *Actions) {
	if incarnation >= m.cfg.Incarnation {
		*out = append(*out, Action{Kind: ReportFenced, Report: Report{Proc: m.cfg.Self, By: from}})
	}
}

// Excuse says that a process is known to be stopped for a while, as by a
// debugger, or no longer. Its silence then means nothing. Afterwards it has 2δ.
func (m *Machine) Excuse(now proto.Time, p proto.Proc, excused bool) {
	m.wake(now)
	i := slices.Index(m.excused, p)
	switch {
	case excused && i < 0:
		m.excused = append(m.excused, p)
	case !excused && i >= 0:
		m.excused = slices.Delete(m.excused, i, i+1)
	default:
		return
	}
	if p == m.emitter {
		m.observe(now, p)
	}
}

// lookup is the entry of a process that is known to be gone.
func (m *Machine) lookup(p proto.Proc) (e Entry, ok bool) {
	i, ok := m.gone.find(m.cfg.View.Ring, p)
	if ok {
		e = m.gone[i]
	}
	return e, ok
}

// live tells whether a member isn't known to be gone.
func (m *Machine) live(p proto.Proc) bool {
	_, gone := m.lookup(p)
	return !gone
}

// admits tells whether a message counts: its sender is a member in its present
// incarnation and not known to have died. An excluded sender is told so, unless it has
// a newer view, in which it may be a member. Messages of processes that have left count: they
// may arrive after the news of the departure.
func (m *Machine) admits(now proto.Time, from proto.Proc, view uint32, incarnation proto.Incarnation, out *Actions) bool {
	position := m.cfg.View.Ring.Position(from)
	if from == m.cfg.Self {
		return false
	}
	if position < 0 {
		if view <= m.cfg.View.Number {
			*out = append(*out, Action{Kind: SendEviction, To: from, Incarnation: incarnation})
		}
		return false
	}
	if last, excluded := m.excludes(from, incarnation); excluded {
		*out = append(*out, Action{Kind: SendEviction, To: from, Incarnation: last})
		return false
	}
	if incarnation > m.cfg.View.incarnation(position) {
		m.Evidence(now, from, incarnation-1, out)
		return false
	}
	return true
}

// excludes tells whether an incarnation is known to be dead, and up to which
// they are.
func (m *Machine) excludes(p proto.Proc, incarnation proto.Incarnation) (last proto.Incarnation, yes bool) {
	position := m.cfg.View.Ring.Position(p)
	if position < 0 {
		return 0, false
	}
	if current := m.cfg.View.incarnation(position); incarnation < current {
		return current - 1, true
	}
	e, gone := m.lookup(p)
	return e.Incarnation, gone && !e.Left && incarnation <= e.Incarnation
}

// learn notes and reports that a member is gone. It returns false if that was
// known.
func (m *Machine) learn(e Entry, r Report, out *Actions) bool {
	ring := m.cfg.View.Ring
	position := ring.Position(e.Proc)
	if position < 0 || e.Incarnation < m.cfg.View.incarnation(position) {
		return false
	}
	i, known := m.gone.find(ring, e.Proc)
	if known && m.gone[i].Incarnation >= e.Incarnation {
		return false
	}
	if m.shared {
		m.gone, m.shared = append(make(roll, 0, len(m.gone)+1), m.gone...), false
	}
	if known { // a later incarnation has come and gone; Install reports it, if a view has it
		m.hash += e.hash() - m.gone[i].hash()
		m.gone[i].Incarnation = e.Incarnation
		return false
	}
	m.gone = slices.Insert(m.gone, i, e)
	m.tellers = slices.Insert(m.tellers, i, proto.NoProc)
	m.hash += e.hash()
	m.report(e, r, out)
	return true
}

func (m *Machine) report(e Entry, r Report, out *Actions) {
	kind := ReportDeath
	if e.Left {
		kind = ReportLeft
	}
	r.Proc, r.Incarnation = e.Proc, e.Incarnation
	*out = append(*out, Action{Kind: kind, Report: r})
}

// settle follows every change of the list of those gone: it closes the ring and
// does this process's duty of broadcasting.
func (m *Machine) settle(now proto.Time, out *Actions) {
	m.reconnect(now, out)
	switch {
	case !m.owesNews():
	case !m.cfg.Witness:
		m.broadcast(out)
	case m.oweUntil == proto.Never:
		m.oweUntil = now + m.cfg.Period
	}
}

// digest is that of those known to be gone.
func (m *Machine) digest() Digest { return Digest{uint32(len(m.gone)), m.hash} }

// stamp is what each message says of its sender.
func (m *Machine) stamp() Beat {
	return Beat{View: m.cfg.View.Number, Incarnation: m.cfg.Incarnation, Digest: m.digest()}
}
