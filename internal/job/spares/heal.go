package spares

import (
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// heals tells package recovery something, and carries out what that wants.
func (m *Machine) heals(tell func(out *[]recovery.Action)) {
	var actions []recovery.Action
	tell(&actions)
	for _, a := range actions {
		m.carryOut(a)
	}
}

// joining says whether a guest is a replacement that isn't a member yet.
func (m *Machine) joining(g *guest) bool {
	a := m.healing.Current()
	return a != nil && !a.Committed() && g == m.replacement
}

// fail ends the present attempt, if there is one, and its replacement.
func (m *Machine) fail(why string) {
	a := m.healing.Current()
	switch {
	case a == nil:
	case m.donates(a.Donor.Proc):
		m.blame(why, recovery.Replacement)
	default:
		m.blame(why, recovery.Nobody)
	}
}

func (m *Machine) blame(why string, blame recovery.Blame) {
	a := m.healing.Current()
	m.heals(func(out *[]recovery.Action) { m.healing.Fail(a.Process, why, blame, out) })
}

// carryOut does what is to be done about a replacement.
func (m *Machine) carryOut(a recovery.Action) {
	about := func(t control.Type) control.Message {
		return control.Message{Type: t, Proc: a.Attempt.Proc, Incarnation: a.Attempt.Incarnation}
	}
	switch a.Kind {
	case recovery.Start:
		m.take(a.Attempt)
	case recovery.Admit:
		admit := about(control.Admit)
		admit.Card = m.seats[a.Attempt.Proc].card
		m.tellOthers(admit)
	case recovery.Donate:
		if donor := m.seats[a.Attempt.Donor.Proc].guest; donor != nil {
			m.send(donor, about(control.Donate))
		}
	case recovery.Fill:
		g := m.replacement
		g.member, g.proc, g.incarnation = true, a.Attempt.Proc, a.Attempt.Incarnation
		m.seats[g.proc].guest = g
	case recovery.Dismiss:
		m.dismiss(a.Attempt)
	case recovery.AnnounceDeath:
		m.tellOthers(about(control.Death))
	case recovery.Healed:
		m.note(a.Text)
		m.tell(about(control.Healed))
	case recovery.Failed, recovery.Note, recovery.LeftVacant:
		m.note(a.Text)
	}
}

// take gives a place to a spare, which is told how things stand.
func (m *Machine) take(a *recovery.Attempt) {
	g := m.spare(a.Proc)
	m.replacement = g
	g.spare = false
	for i := range m.seats {
		p, s := proto.Proc(i), &m.seats[i]
		switch {
		case p == a.Proc:
			s.known, s.card = a.Incarnation, ""
		case s.dead():
			m.send(g, control.Message{Type: control.Death, Proc: p, Incarnation: s.ended - 1})
		case s.known > 0:
			m.send(g, control.Message{Type: control.Admit, Proc: p, Incarnation: s.known, Card: s.card})
		}
	}
	m.send(g, control.Message{Type: control.Take, Proc: a.Proc, Incarnation: a.Incarnation})
}

// succeeded is why an attempt ends with its spare leader's turn.
const succeeded = "another spare process has become the spare leader"

// dismiss ends a replacement.
func (m *Machine) dismiss(a *recovery.Attempt) {
	if a.Committed() { // it is a replica, but not all know it
		m.bury(a.Proc, a.Incarnation)
		return
	}
	code := 1
	if a.Why == recovery.End || a.Why == succeeded {
		code = 0
	}
	m.send(m.replacement, control.Message{Type: control.Dismissed, Code: code, Text: a.Why})
	m.drop(m.replacement)
	s := &m.seats[a.Proc]
	s.ended = max(s.ended, a.Incarnation+1)
	m.heals(func(out *[]recovery.Action) { m.healing.Died(m.now, a.Process, a.Why, out) })
}

// tellOthers sends a message to all who have a place.
func (m *Machine) tellOthers(message control.Message) {
	for _, g := range m.guests {
		if g.member {
			m.send(g, message)
		}
	}
}
