package spares

import (
	"fmt"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// next begins the next attempt, if that is possible now.
func (m *Machine) next() {
	if !m.phase.leads() {
		return
	}
	m.advance()
	if m.phase != leading || !m.isComplete() {
		return
	}
	m.drive(func(out *[]recovery.Action) {
		m.recovery.Next(m.now, func(slot proto.Proc) bool { return m.spareFor(slot) != nil }, m.canDonate, out)
	})
	if m.recovery.Current() != nil || m.recovery.IsOver() {
		return
	}
	if slot := m.recovery.FirstFillable(m.canDonate); slot != proto.NoProc {
		m.noteOnce(fmt.Sprintf("%s stays dead: no spare process is left for it", m.name(slot)))
	}
}

// canDonate says whether a process is connected and so can be a donor.
func (m *Machine) canDonate(p proto.Proc) bool { return m.slots[p].peer != nil }

// spareFor is the spare that fills a slot next, nil if none can. It is the highest, so that the
// spare leaders of the next terms are the last to go.
func (m *Machine) spareFor(slot proto.Proc) (best *peer) {
	program := m.programs[m.layout.Rank(slot)]
	for _, p := range m.peers {
		if p.spare && (program < 0 || uint64(program) == p.program) && (best == nil || p.launcherRank > best.launcherRank) {
			best = p
		}
	}
	return best
}

// drive tells package recovery something, and carries out what it wants.
func (m *Machine) drive(tell func(out *[]recovery.Action)) {
	var actions []recovery.Action
	tell(&actions)
	for _, a := range actions {
		m.carryOut(a)
	}
}

// joining says whether a peer is the replacement of the present attempt and doesn't fill its slot
// yet.
func (m *Machine) joining(p *peer) bool {
	a := m.recovery.Current()
	return a != nil && !a.Committed() && p == m.replacement
}

// fail ends the present attempt, if there is one, and its replacement.
func (m *Machine) fail(why string) {
	a := m.recovery.Current()
	switch {
	case a == nil:
	case m.canDonate(a.Donor.Proc):
		m.blame(why, recovery.Replacement)
	default:
		m.blame(why, recovery.Nobody)
	}
}

func (m *Machine) blame(why string, blame recovery.Blame) {
	a := m.recovery.Current()
	m.drive(func(out *[]recovery.Action) { m.recovery.Fail(a.Process, why, blame, out) })
}

// carryOut does what package recovery wants.
func (m *Machine) carryOut(a recovery.Action) {
	about := func(t control.Type) control.Message {
		return control.Message{Type: t, Proc: a.Attempt.Proc, Incarnation: a.Attempt.Incarnation}
	}
	switch a.Kind {
	case recovery.Start:
		m.take(a.Attempt)
	case recovery.Admit:
		admit := about(control.Admit)
		admit.Card = m.slots[a.Attempt.Proc].card
		m.tellMembers(admit)
	case recovery.Donate:
		if donor := m.slots[a.Attempt.Donor.Proc].peer; donor != nil {
			m.send(donor, about(control.Donate))
		}
	case recovery.Fill:
		p := m.replacement
		p.member, p.proc, p.incarnation = true, a.Attempt.Proc, a.Attempt.Incarnation
		m.slots[p.proc].peer = p
	case recovery.AskToGiveUp:
		ask := about(control.GiveUp)
		ask.Text = a.Text
		m.send(m.replacement, ask)
	case recovery.Ask: // its connection is its sign of life
		if m.canDonate(a.To.Proc) {
			m.recovery.Heard(a.To, a.Number)
		}
	case recovery.Dismiss:
		m.dismiss(a.Attempt)
	case recovery.AnnounceDeath:
		m.tellMembers(about(control.Death))
	case recovery.Healed:
		m.note(a.Text)
		m.tellAll(about(control.Healed))
	case recovery.Failed, recovery.Note, recovery.LeftVacant:
		m.note(a.Text)
	}
}

// take gives a slot to a spare, and tells it which other processes were replaced or are dead.
func (m *Machine) take(a *recovery.Attempt) {
	p := m.spareFor(a.Proc)
	m.replacement = p
	p.spare = false
	for i := range m.slots {
		proc, s := proto.Proc(i), &m.slots[i]
		switch {
		case proc == a.Proc:
			s.known, s.card = a.Incarnation, ""
		case s.dead():
			m.send(p, control.Message{Type: control.Death, Proc: proc, Incarnation: s.ended - 1})
		case s.known > 0:
			m.send(p, control.Message{Type: control.Admit, Proc: proc, Incarnation: s.known, Card: s.card})
		}
	}
	m.send(p, control.Message{Type: control.Take, Proc: a.Proc, Incarnation: a.Incarnation})
}

// succeeded is why an attempt ends together with its term.
const succeeded = "another spare process has become the spare leader"

// dismiss ends a replacement.
func (m *Machine) dismiss(a *recovery.Attempt) {
	if a.Committed() { // it is a replica, but some processes don't know it yet
		m.died(a.Proc, a.Incarnation)
		return
	}
	code := 1
	if a.Why == recovery.End || a.Why == succeeded {
		code = 0
	}
	m.send(m.replacement, control.Message{Type: control.Dismissed, Code: code, Text: a.Why})
	m.drop(m.replacement)
	s := &m.slots[a.Proc]
	s.ended = max(s.ended, a.Incarnation+1)
	m.drive(func(out *[]recovery.Action) { m.recovery.Died(m.now, a.Process, a.Why, out) })
}
