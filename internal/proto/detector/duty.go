package detector

import "banyan/internal/proto"

// holding is a death that this process knows of and may yet have to tell of. Its observer comes
// first.
type holding struct {
	proc   proto.Proc
	tellAt proto.Time
}

// hold keeps back the news of a death for η for each live process that is closer to the
// dead one on the ring, at most δ, and for one η more where there is a witness. The closest is
// its observer, which tells first. If it fails, the others shouldn't all tell at the same time.
func (m *Machine) hold(now proto.Time, p proto.Proc) {
	ring, self := m.cfg.View.Ring, m.cfg.Self
	between := ring.Ahead(p, self) - 1
	if between > 0 && len(m.gone) > 1 {
		from, to := ring.Position(p), ring.Position(self)
		gone := m.gone.search(ring, to) - m.gone.search(ring, from) - 1
		if from > to {
			gone += len(m.gone)
		}
		between -= gone
	}
	if m.cfg.Witness {
		between++
	}
	wait := min(proto.Time(between)*m.cfg.Period, m.cfg.Timeout)
	m.held = append(m.held, holding{p, now + wait})
}

// owesNews tells whether there is a death in this process's segment, the run
// of those gone directly before it, of which neither it nor a process that left in
// order has told all. Others that have told of it may have died, or may yet die, before
// they reached all.
func (m *Machine) owesNews() bool {
	ring := m.cfg.View.Ring
	first := m.gone.search(ring, ring.Position(m.cfg.Self))
	at := m.cfg.Self
	for i := range m.gone {
		j := (first - 1 - i + len(m.gone)) % len(m.gone)
		e := m.gone[j]
		if at = ring.Prev(at); e.Proc != at {
			return false
		}
		if t := m.tellers[j]; !e.Left && t != m.cfg.Self && !m.hasLeft(t) {
			return true
		}
	}
	return false
}
