package detector

import "banyan/internal/proto"

func (m *Machine) next(p proto.Proc) proto.Proc {
	if p++; int(p) == m.cfg.N {
		return 0
	}
	return p
}

func (m *Machine) prev(p proto.Proc) proto.Proc {
	if p == 0 {
		return proto.Proc(m.cfg.N - 1)
	}
	return p - 1
}

// ahead is how many steps clockwise p is from this process.
func (m *Machine) ahead(p proto.Proc) int {
	return (int(p) - int(m.cfg.Self) + m.cfg.N) % m.cfg.N
}

// beat sends a heartbeat and sets the time of the next. The rhythm is kept
// where a call is a little late; heartbeats that were missed aren't made up for.
func (m *Machine) beat(now proto.Time, out *Actions) {
	*out = append(*out, Action{Kind: SendHeartbeat, To: m.observer})
	if due := m.beatAt + m.cfg.Period; m.beatAt <= now && now < due {
		m.beatAt = due
	} else {
		m.beatAt = now + m.cfg.Period
	}
}

// observe begins the watch over a new emitter, which gets 2δ: it has to hear of
// it first.
func (m *Machine) observe(now proto.Time, emitter proto.Proc) {
	m.emitter = emitter
	m.heard, m.wait, m.suspectAt = now, 2*m.cfg.Timeout, now+2*m.cfg.Timeout
}

// reconnect replaces an emitter and an observer that are gone by the next
// process in their direction, if there is one.
func (m *Machine) reconnect(now proto.Time, out *Actions) {
	self := m.cfg.Self
	for m.observer != proto.NoProc && m.status[m.observer] != live {
		if m.observer = m.next(m.observer); m.observer == self {
			m.observer = proto.NoProc
		}
	}
	if m.emitter == proto.NoProc || m.status[m.emitter] == live {
		return
	}
	e := m.emitter
	for m.status[e] != live {
		e = m.prev(e) // ends at this process, which is live
	}
	if e == self {
		m.emitter = proto.NoProc
		return
	}
	m.observe(now, e)
	*out = append(*out, Action{Kind: SendObserve, To: e})
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
		m.suspectAt = now + m.wait
	}
}
