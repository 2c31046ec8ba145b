// Package detector finds deaths and tells every live process: a ring of
// heartbeats with one observer for each process, after Bosilca et al., "A
// Failure Detector for HPC Platforms" (2017), section 2, algorithm 1.
//
// Every process (the emitter) sends a heartbeat each η to the next live process
// on the ring (its observer), which takes δ of silence for a death. A death may
// also be known from certain evidence, such as the kernel's; that is always
// first. Whoever learns of a death reports it at once; the observer of the dead
// process tells all the others.
//
// # Spreading
//
// The paper spreads a death along hypercubes. This first cut has the observer
// send its whole list of deaths straight to every live process, and so needs
// neither labels nor the paper's bound on overlapping deaths. One rule makes it
// reliable. Call the run of gone processes directly before a live one on the
// ring its segment:
//
//	A process tells everyone of each death in its segment itself, however
//	it learned of it, unless one that left in order has done so.
//
// Let d be dead, and r the nearest process after d that lives for good. All
// between them are gone, so r finds out about them one by one, by silence if by
// nothing else, until d is in its segment. Then r tells all, and no death can
// cut that short, for r lives. A process that left in order had told all before
// it said goodbye, on the same ordered channels.
//
// After the last of f deaths every live process knows them all within f·2δ, the
// time in which a process walks a segment with f deaths that nobody has evidence
// of, plus two transits.
//
// One death is one broadcast of n-2 messages. Processes other than the observer
// that hold evidence act on it but tell nobody, unless they hear nothing for a
// back-off of η for each live process between the dead one and themselves (at
// most δ). It is for the case that the observer has neither evidence nor, yet,
// a reason to doubt.
//
// # Invariants
//
//   - The set of the dead only grows. A process that left never becomes dead,
//     nor the other way round.
//   - The emitter is the nearest process before this one that isn't known to
//     be gone. A new emitter is told so, and has 2δ.
//   - The observer moves clockwise only: a late NEWOBSERVER of a nearer
//     process doesn't bring it back.
//   - Every death is reported once.
//   - A process whose own loop was stopped suspects nobody for what it missed.
//
// # Limits
//
// It needs δ > η + τ + jitter, τ being the longest transit of a message; to
// recognise its own stalls also δ ≥ 4η + 2τ (see wake). The fan-out of a broadcast
// is O(n). Ring order is the order of Procs: the m processes of a dead host cost
// (2m-1)δ where there is no evidence. There are no incarnations: a Proc that is
// gone stays gone.
package detector

import "banyan/internal/proto"

// Config says who the process is and how patient.
type Config struct {
	Self proto.Proc
	N    int // processes in the job, numbered 0…N-1
	// Period (η) is the time between heartbeats, Timeout (δ) the silence that
	// is taken for a death.
	Period, Timeout proto.Time
}

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions, with the fields in use.
const (
	// SendHeartbeat tells the observer To that this process lives.
	SendHeartbeat ActionKind = iota
	// SendObserve tells To that this process now observes it.
	SendObserve
	// SendDeaths tells To of all deaths known here, Dead.
	SendDeaths
	// SendObituary tells To that the job counts it among the dead.
	SendObituary
	// ReportDeath tells the layers above of a death, Report, once each.
	ReportDeath
)

// Action is one thing to do.
type Action struct {
	Kind ActionKind
	To   proto.Proc
	// Dead is the machine's own list in the order of learning. It is valid
	// until the next call.
	Dead   []proto.Proc
	Report Report
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// Cause is how a death became known.
type Cause uint8

// Causes of a report.
const (
	// CauseEvidence is certain knowledge of this process.
	CauseEvidence Cause = iota
	// CauseSilence is a time-out of this process as observer.
	CauseSilence
	// CauseTold is another process's word.
	CauseTold
)

func (c Cause) String() string {
	switch c {
	case CauseEvidence:
		return "evidence"
	case CauseSilence:
		return "silence"
	default:
		return "told"
	}
}

// Report is a death as this process learned of it.
type Report struct {
	Proc  proto.Proc
	Cause Cause
	// Silent is the time since the last heartbeat, or since the process
	// became the emitter if there was none. For CauseSilence.
	Silent proto.Time
	By     proto.Proc // who told; this process itself for the other causes
}

type status uint8

const (
	live status = iota
	dead
	left
)

// Machine is the detector of one process.
type Machine struct {
	cfg    Config
	status []status
	dead   []proto.Proc // in the order of learning

	emitter  proto.Proc // NoProc if no other process is left
	observer proto.Proc
	beatAt   proto.Time // the next heartbeat is due

	heard     proto.Time // last heartbeat of the emitter, or since when it is one
	wait      proto.Time // δ, or 2δ until the first heartbeat of an emitter
	suspectAt proto.Time

	// teller[d] is who is known to have told everyone of d's death: this
	// process, or else the last from which the news came. NoProc if nobody.
	teller []proto.Proc
	held   []evidence
}

// New makes the machine of a process that starts, with all others alive. The
// first heartbeat goes out at once.
func New(cfg Config, now proto.Time, out *Actions) *Machine {
	m := &Machine{
		cfg:      cfg,
		status:   make([]status, cfg.N),
		dead:     make([]proto.Proc, 0, cfg.N),
		teller:   make([]proto.Proc, cfg.N),
		emitter:  proto.NoProc,
		observer: proto.NoProc,
	}
	for p := range m.teller {
		m.teller[p] = proto.NoProc
	}
	if cfg.N > 1 {
		m.observer = m.next(cfg.Self)
		m.observe(now, m.prev(cfg.Self))
		m.beatAt = now
		m.beat(now, out)
	}
	return m
}

// Alive tells whether a process isn't known to have died. One that has left in
// order didn't die.
func (m *Machine) Alive(p proto.Proc) bool { return m.status[p] != dead }

// Dead gives the processes known to be dead in the order of learning. The slice
// is valid until the next call that may change the machine.
func (m *Machine) Dead() []proto.Proc { return m.dead }

// Deadline is when Tick has to be called next, Never if alone.
func (m *Machine) Deadline() proto.Time {
	d := proto.Never
	if m.observer != proto.NoProc {
		d = m.beatAt
	}
	if m.emitter != proto.NoProc {
		d = min(d, m.suspectAt)
	}
	for _, e := range m.held {
		d = min(d, e.tellAt)
	}
	return d
}

// Tick lets time pass (tasks T1 and T3). Frames that have arrived should be
// handed over first.
func (m *Machine) Tick(now proto.Time, out *Actions) {
	m.wake(now)
	if m.observer != proto.NoProc && now >= m.beatAt {
		m.beat(now, out)
	}
	if m.emitter != proto.NoProc && now >= m.suspectAt {
		m.learn(Report{Proc: m.emitter, Cause: CauseSilence, Silent: now - m.heard, By: m.cfg.Self}, out)
		m.settle(now, out)
	}
	for _, e := range m.held {
		if now >= e.tellAt {
			m.tellAll(out)
			break
		}
	}
}

// Heartbeat takes a heartbeat (task T2).
func (m *Machine) Heartbeat(now proto.Time, from proto.Proc, out *Actions) {
	m.wake(now)
	if m.status[from] == dead {
		m.Stranger(now, from, out)
		return
	}
	if from == m.emitter {
		m.heard, m.wait, m.suspectAt = now, m.cfg.Timeout, now+m.cfg.Timeout
	}
}

// Observe takes the news that a process observes this one (NEWOBSERVER, task
// T4). It is believed if that process is farther clockwise than the present
// observer: those between are gone, and a nearer one is late.
func (m *Machine) Observe(now proto.Time, from proto.Proc, out *Actions) {
	m.wake(now)
	switch {
	case m.status[from] == dead:
		m.Stranger(now, from, out)
	case m.status[from] == left || from == m.cfg.Self:
	case m.observer == proto.NoProc || m.ahead(from) >= m.ahead(m.observer):
		m.observer = from
		m.beat(now, out)
	}
}

// Deaths takes another process's list of deaths (task T5). The whole list
// counts. Processes that aren't of the job are ignored, and so is this process
// itself, for which an obituary is meant.
func (m *Machine) Deaths(now proto.Time, from proto.Proc, list []proto.Proc, out *Actions) {
	m.wake(now)
	if m.status[from] == dead {
		m.Stranger(now, from, out)
		return
	}
	for _, d := range list {
		if d < 0 || int(d) >= m.cfg.N || d == m.cfg.Self {
			continue
		}
		m.learn(Report{Proc: d, Cause: CauseTold, By: from}, out)
		m.hasTold(from, d)
	}
	m.settle(now, out)
}

// Evidence takes certain knowledge of a death.
func (m *Machine) Evidence(now proto.Time, p proto.Proc, out *Actions) {
	m.wake(now)
	if p == m.cfg.Self || m.status[p] != live {
		return
	}
	m.learn(Report{Proc: p, Cause: CauseEvidence, By: m.cfg.Self}, out)
	m.hold(now, p)
	m.settle(now, out)
}

// Left takes the goodbye of a process: it leaves the ring, and is not dead.
func (m *Machine) Left(now proto.Time, p proto.Proc, out *Actions) {
	m.wake(now)
	if p == m.cfg.Self || m.status[p] != live {
		return
	}
	m.status[p] = left
	m.settle(now, out)
}

// Stranger answers a frame of any kind that came from a process known dead: it
// lives after all, or did when it sent, and must learn that it is excluded.
func (m *Machine) Stranger(_ proto.Time, from proto.Proc, out *Actions) {
	if m.status[from] == dead {
		*out = append(*out, Action{Kind: SendObituary, To: from})
	}
}

// learn notes and reports a death that is new.
func (m *Machine) learn(r Report, out *Actions) {
	if m.status[r.Proc] != live {
		return
	}
	m.status[r.Proc] = dead
	m.dead = append(m.dead, r.Proc)
	*out = append(*out, Action{Kind: ReportDeath, Report: r})
}

// settle follows every change of the set of those gone: it closes the ring and
// does this process's duty of telling.
func (m *Machine) settle(now proto.Time, out *Actions) {
	m.reconnect(now, out)
	if m.owesNews() {
		m.tellAll(out)
	}
}
