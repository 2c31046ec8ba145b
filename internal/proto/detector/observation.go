package detector

import (
	"slices"

	"banyan/internal/proto"
)

// Heartbeat takes a heartbeat (task T2), and looks whether the emitter knows
// the same processes to be gone as this one.
func (m *Machine) Heartbeat(now proto.Time, from proto.Proc, b Beat, out *Actions) {
	m.wake(now)
	if !m.admits(now, from, b.View, b.Incarnation, out) || from != m.emitter {
		return
	}
	m.heard, m.unheard = now, false
	m.expect(now)
	if b.View == m.cfg.View.Number {
		m.compare(from, b.Digest, out)
	}
}

// Observe takes the news that a process observes this one (NEWOBSERVER, task
// T4). It is believed if that process is farther clockwise than the present
// observer: those between are gone, and a nearer one is late. A process of another view counts
// by another ring, and is an extra observer until the views agree.
func (m *Machine) Observe(now proto.Time, from proto.Proc, b Beat, out *Actions) {
	m.wake(now)
	ring, self := m.cfg.View.Ring, m.cfg.Self
	admitted := m.admits(now, from, b.View, b.Incarnation, out)
	switch {
	case from == self:
	case b.View > m.cfg.View.Number:
		if _, excluded := m.excludes(from, b.Incarnation); !excluded {
			m.addObserver(now, from, proto.Never, out)
		}
	case !admitted || !m.live(from):
	case b.View < m.cfg.View.Number:
		m.addObserver(now, from, now+2*m.cfg.Timeout, out)
	case m.observer == proto.NoProc || ring.Ahead(self, from) >= ring.Ahead(self, m.observer):
		m.observer = from
		m.beat(now, out)
	}
}

// extraObserver is a process of another view. It observes this one by its own ring, beside the
// observer of this view.
type extraObserver struct {
	proc  proto.Proc
	until proto.Time
}

// addObserver makes a process an extra observer and sends it a first heartbeat.
func (m *Machine) addObserver(now proto.Time, p proto.Proc, until proto.Time, out *Actions) {
	m.extra = slices.DeleteFunc(m.extra, func(g extraObserver) bool { return g.proc == p })
	m.extra = append(m.extra, extraObserver{p, until})
	m.beat(now, out)
}

// beat sends a heartbeat (task T1) and sets the time of the next. The rhythm is kept
// where a call is a little late; heartbeats that were missed aren't made up for.
func (m *Machine) beat(now proto.Time, out *Actions) {
	if m.observer != proto.NoProc {
		*out = append(*out, Action{Kind: SendHeartbeat, To: m.observer, Beat: m.stamp()})
	}
	for i := 0; i < len(m.extra); i++ {
		switch g := m.extra[i]; {
		case now > g.until || g.proc == m.observer || !m.live(g.proc):
			m.extra = slices.Delete(m.extra, i, i+1)
			i--
		default:
			*out = append(*out, Action{Kind: SendHeartbeat, To: g.proc, Beat: m.stamp()})
		}
	}
	if due := m.beatAt + m.cfg.Period; m.beatAt <= now && now < due {
		m.beatAt = due
	} else {
		m.beatAt = now + m.cfg.Period
	}
}

// observe begins to watch a new emitter. It gets 2δ, because it first has to hear of its new
// observer.
func (m *Machine) observe(now proto.Time, emitter proto.Proc) {
	m.emitter, m.heard, m.unheard, m.doubt = emitter, now, true, 0
	m.expect(now)
}

// expect sets the time at which the emitter is suspected if nothing more
// is heard.
func (m *Machine) expect(now proto.Time) {
	wait := m.cfg.Timeout
	if m.unheard {
		wait *= 2
	}
	m.suspectAt, m.askAt, m.doubted = now+wait, proto.Never, proto.Never
	if m.cfg.Opinions > 0 {
		m.askAt = m.suspectAt - m.cfg.Timeout/2
	}
	if len(m.excused) > 0 && slices.Contains(m.excused, m.emitter) {
		m.suspectAt, m.askAt = proto.Never, proto.Never
	}
}

// suspect takes the emitter for dead (task T3).
func (m *Machine) suspect(now proto.Time, out *Actions) {
	e := Entry{Proc: m.emitter, Incarnation: m.cfg.View.of(m.emitter)}
	m.learn(e, Report{Cause: CauseSilence, Silent: now - m.heard, By: m.cfg.Self}, out)
	if m.cfg.Local {
		m.settle(now, out)
		return
	}
	m.reconnect(now, out)
	if m.owesNews() {
		m.broadcast(out)
	}
}

// patience is for how many δ a process at most may be silent that is known to be starved, or that
// others vouch for.
const patience = 10

// Doubtful is the emitter if the next Tick would take it for dead, and NoProc
// otherwise. A driver that knows better can [Machine.Bear] with it.
func (m *Machine) Doubtful(now proto.Time) proto.Proc {
	m.wake(now)
	if m.emitter == proto.NoProc || now < m.suspectAt {
		return proto.NoProc
	}
	return m.emitter
}

// Bear says that a process is starved rather than dead: a process on its host sees that it
// is ready to run, or runs. Its silence is borne for another η; then it is Doubtful
// again. After patience δ that no longer helps: a process that runs and still isn't heard of
// is of no use to the others. Where others will say for certain whether it is dead, and need
// longer, verdict is the time that they take; else it is 0.
func (m *Machine) Bear(now proto.Time, p proto.Proc, verdict proto.Time) {
	m.wake(now)
	if last := m.heard + max(patience*m.cfg.Timeout, verdict); p == m.emitter && m.suspectAt <= now && now < last {
		m.suspectAt = min(now+m.cfg.Period, last)
	}
}

// reconnect replaces an emitter and an observer that are gone by the next
// process in their direction, if there is one.
func (m *Machine) reconnect(now proto.Time, out *Actions) {
	if len(m.gone) == 0 {
		return
	}
	if m.observer != proto.NoProc && !m.live(m.observer) {
		m.observer = m.clockwise(m.observer)
	}
	if m.emitter == proto.NoProc || m.live(m.emitter) {
		return
	}
	m.emitter = m.counterclockwise(m.emitter)
	if m.emitter != proto.NoProc {
		m.observe(now, m.emitter)
		*out = append(*out, Action{Kind: SendObserve, To: m.emitter, Beat: m.stamp()})
	}
}

// clockwise is the first live process at p or after it, or NoProc if that is this one.
func (m *Machine) clockwise(p proto.Proc) proto.Proc {
	for !m.live(p) {
		p = m.cfg.View.Ring.Next(p) // ends at this process at the latest, which is live
	}
	if p == m.cfg.Self {
		return proto.NoProc
	}
	return p
}

// counterclockwise is the first live process at p or before it (FindEmitter).
func (m *Machine) counterclockwise(p proto.Proc) proto.Proc {
	for !m.live(p) {
		p = m.cfg.View.Ring.Prev(p)
	}
	if p == m.cfg.Self {
		return proto.NoProc
	}
	return p
}

// wake begins every call. If the call is more than δ/2 past the deadline, the
// process itself was stopped or starved. Silence then means nothing, for
// heartbeats may wait unread, or the emitter was stopped along with it. So the
// wait starts anew.
//
// Why δ/2: some deadline is never more than η away, so a stall of length S makes
// a call at least S-η late. The emitter's last heartbeat may be η+τ old when the
// stall begins, so S ≥ δ-η-τ can make it look dead. All those stalls are
// recognised if δ-2η-τ > δ/2, that is, δ > 4η+2τ. A smaller share of δ would
// let a process on a busy machine, always a little late, never suspect anyone;
// one that is always δ/2 late is about to be suspected itself.
func (m *Machine) wake(now proto.Time) {
	if d := m.Deadline(); d < now && now-d > m.cfg.Timeout/2 && m.emitter != proto.NoProc {
		m.expect(now)
	}
}
