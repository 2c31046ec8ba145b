package detector

import "banyan/internal/proto"

// evidence is a death that this process knows for certain and may yet have to
// tell of, though it isn't the observer.
type evidence struct {
	proc   proto.Proc
	tellAt proto.Time
}

// hold keeps evidence back for η for each live process that is closer to the
// dead one on the ring: the closest is its observer, which tells at once, and if
// that fails not all the others should speak up together.
func (m *Machine) hold(now proto.Time, p proto.Proc) {
	wait := proto.Time(0)
	for q := m.next(p); q != m.cfg.Self && wait < m.cfg.Timeout; q = m.next(q) {
		if m.status[q] == live {
			wait += m.cfg.Period
		}
	}
	m.held = append(m.held, evidence{p, now + min(wait, m.cfg.Timeout)})
}

// hasTold notes that a process told of a death, so that nobody else need unless
// it is that one's duty.
func (m *Machine) hasTold(by, d proto.Proc) {
	if m.status[d] != dead {
		return
	}
	if m.teller[d] != m.cfg.Self {
		m.teller[d] = by
	}
	for i, e := range m.held {
		if e.proc == d {
			m.held = append(m.held[:i], m.held[i+1:]...)
			return
		}
	}
}

// owesNews tells whether there is a death in this process's segment of which
// neither it nor a process that left in order has told everyone. Others who
// have told may have died, or may yet die, before they reached all.
func (m *Machine) owesNews() bool {
	for p := m.prev(m.cfg.Self); m.status[p] != live; p = m.prev(p) {
		if m.status[p] != dead {
			continue
		}
		t := m.teller[p]
		if t == proto.NoProc || t != m.cfg.Self && m.status[t] != left {
			return true
		}
	}
	return false
}

// tellAll sends the whole list of deaths to every other live process.
func (m *Machine) tellAll(out *Actions) {
	for p := m.next(m.cfg.Self); p != m.cfg.Self; p = m.next(p) {
		if m.status[p] == live {
			*out = append(*out, Action{Kind: SendDeaths, To: p, Dead: m.dead})
		}
	}
	for _, d := range m.dead {
		m.teller[d] = m.cfg.Self
	}
	m.held = m.held[:0]
}
