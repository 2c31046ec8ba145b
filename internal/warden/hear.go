package warden

import (
	"fmt"

	"banyan/internal/control"
	"banyan/internal/proto"
	"banyan/internal/vacancy"
)

// maxLife is more lives than a place ever has.
const maxLife = 1 << 31

// Heard takes what a guest says. What makes no sense is ignored.
func (m *Machine) Heard(now proto.Time, id int, message control.Message, out *[]Action) {
	m.at(now, out)
	g := m.find(id)
	if g == nil || m.over || int(message.Proc) >= len(m.seats) || message.Proc < 0 || message.Incarnation >= maxLife {
		return
	}
	g.heard = now
	if message.Type == control.Turn {
		m.heardTurn(g, message.Number)
		return
	}
	if i := m.number(g); i >= 0 && i < len(m.seen) {
		m.seen[i] = true
	}
	switch {
	case g.member:
		m.heardMember(g, message)
	case m.attempt != nil && m.attempt.newcomer == g:
		m.heardNewcomer(g, message)
	case message.Type == control.Spare:
		g.spare, g.pid, g.program = true, message.Pid, message.Number
		if m.departed {
			m.send(g, control.Message{Type: control.Finalized})
		}
	case message.Type == control.Finalized && g.spare:
		m.depart() // an earlier warden has told it so
	case message.Type == control.Member && !g.spare:
		m.seat(g, message)
	}
	m.occupied()
	m.next()
}

// heardTurn takes what a guest says of the present turn. If it is a later one this spare must follow. A guest that is behind
// must go on, unless it is at the right door.
func (m *Machine) heardTurn(g *guest, turn uint64) {
	if turn >= maxTurn {
		return
	}
	g.turn = turn
	m.later = max(m.later, turn)
	switch {
	case turn > m.turn:
		*m.out = append(*m.out, Action{Kind: Urge, Turn: turn})
	case turn < m.turn && !m.reigns:
		m.sendOn(g)
	}
}

// seat takes a process of the job.
func (m *Machine) seat(g *guest, message control.Message) {
	s := &m.seats[message.Proc]
	g.member, g.proc, g.life, g.pid = true, message.Proc, message.Incarnation, message.Pid
	m.programs[m.layout.Rank(g.proc)] = int64(message.Number)
	m.known(g.proc, g.life)
	if s.ended > g.life || g.life < s.known {
		m.fence(g)
		return
	}
	s.guest, s.card = g, message.Card
}

// fence tells a process that it is excluded, and sends it away.
func (m *Machine) fence(g *guest) {
	m.send(g, control.Message{Type: control.Death, Proc: g.proc, Incarnation: g.life})
	m.drop(g)
}

// known notes that a process was admitted.
func (m *Machine) known(p proto.Proc, life uint32) {
	m.board.Filled(p, life)
	s := &m.seats[p]
	if life <= s.known {
		return
	}
	s.known, s.card = life, ""
	s.ended = max(s.ended, life) // the lives before
	if g := s.guest; g != nil && g.life < life {
		s.guest = nil
		m.fence(g)
	}
}

// heardMember takes what a process of the job says.
func (m *Machine) heardMember(g *guest, message control.Message) {
	s := &m.seats[g.proc]
	a := m.attempt
	switch message.Type {
	case control.Healable:
		m.board.Healable(g.proc)
	case control.Unhealable:
		m.once(m.name(g.proc) + " " + message.Text)
	case control.Knows:
		m.known(message.Proc, message.Incarnation)
	case control.Obituary:
		f := &m.seats[message.Proc]
		f.feared = max(f.feared, message.Incarnation+1)
		if a != nil && a.Slot == message.Proc && a.Life == message.Incarnation && !a.Committed() {
			m.fail(fmt.Sprintf("process %d holds it for dead", g.proc))
			return
		}
		m.judge(message.Proc)
	case control.Excluded:
		m.bury(message.Proc, message.Incarnation)
	case control.Mark:
		if a != nil && a.Donor == g.proc && a.Slot == message.Proc && a.Life == message.Incarnation && !a.marked && a.Part == vacancy.FindSafepoint {
			a.marked = true
			m.board.Enter(m.now, vacancy.TakeOver)
		}
	case control.Healed:
		if a != nil && a.newcomer == g {
			m.attempt = nil
			m.note(m.board.Healed(m.now, g.pid))
			m.tell(control.Message{Type: control.Healed, Proc: g.proc, Incarnation: g.life})
		}
	case control.Finalized:
		s.left, s.guest = true, nil
		m.depart()
		m.send(g, control.Message{Type: control.Finalized})
	}
}

// heardNewcomer takes what a spare says that has been given a place.
func (m *Machine) heardNewcomer(g *guest, message control.Message) {
	a := m.attempt
	switch message.Type {
	case control.Arrived:
		if a.admitted {
			return
		}
		a.admitted = true
		m.seats[a.Slot].card = message.Card
		for _, o := range m.guests {
			if o.member {
				m.send(o, control.Message{Type: control.Admit, Proc: a.Slot, Incarnation: a.Life, Card: message.Card})
			}
		}
		if donor := m.seats[a.Donor].guest; donor != nil {
			m.send(donor, control.Message{Type: control.Donate, Proc: a.Slot, Incarnation: a.Life})
		}
		m.board.Enter(m.now, vacancy.FindSafepoint)
	case control.Committed:
		g.member, g.proc, g.life = true, a.Slot, a.Life
		m.seats[a.Slot].guest = g
		m.board.Enter(m.now, vacancy.BecomeKnown)
	case control.HealFailed, control.Unhealable:
		a.Hopeless = message.Type == control.Unhealable
		m.fail(message.Text)
	}
}

// judge looks whether a process that others hold for dead is.
func (m *Machine) judge(p proto.Proc) {
	if s := &m.seats[p]; s.feared > s.ended && (s.guest == nil || s.guest.life >= s.feared) && !s.left {
		m.bury(p, s.feared-1)
	}
}

// bury takes the death of a process, in all incarnations up to one.
func (m *Machine) bury(p proto.Proc, life uint32) {
	s := &m.seats[p]
	if s.ended > life || s.left {
		return
	}
	m.known(p, life)
	s.ended = life + 1
	m.tell(control.Message{Type: control.Death, Proc: p, Incarnation: life})
	if !s.dead() {
		return // another has its place
	}
	if g := s.guest; g != nil {
		s.guest = nil
		m.drop(g)
	}
	a := m.attempt
	switch {
	case a == nil:
	case a.Slot == p:
		if !a.Committed() {
			m.fail("the others hold it for dead")
			return
		}
		m.attempt = nil
		m.board.Died()
	case a.Donor == p && !a.Committed() && !a.marked:
		m.fail("the replica whose state it was to take over has died")
	}
	m.note(m.board.Vacated(m.now, p))
}

// complete says whether all who live are here: nobody else is warden then.
func (m *Machine) complete() bool {
	for i := range m.seats {
		if s := &m.seats[i]; s.guest == nil && !s.dead() {
			return false
		}
	}
	return true
}

// donates says whether a process is there to be a donor.
func (m *Machine) donates(p proto.Proc) bool { return m.seats[p].guest != nil }

// spare is the one that takes a place, nil if none can: the highest, so that the wardens to
// come are the last.
func (m *Machine) spare(slot proto.Proc) (best *guest) {
	program := m.programs[m.layout.Rank(slot)]
	for _, g := range m.guests {
		if g.spare && (program < 0 || uint64(program) == g.program) && (best == nil || g.station > best.station) {
			best = g
		}
	}
	return best
}

// next begins the next attempt, if that can be now.
func (m *Machine) next() {
	if !m.reigns || m.over || m.attempt != nil || m.later > m.turn || m.now < m.resumed || m.gathering() || !m.complete() {
		return
	}
	a := m.board.Next(m.now, func(slot proto.Proc) bool { return m.spare(slot) != nil }, m.donates)
	if a == nil {
		if slot := m.board.Needy(m.donates); slot != proto.NoProc && !m.board.IsOver() {
			m.once(fmt.Sprintf("%s stays dead: no spare process is left for it", m.name(slot)))
		}
		return
	}
	g := m.spare(a.Slot)
	m.attempt = &attempt{Attempt: a, newcomer: g}
	g.spare = false
	for i := range m.seats {
		p, s := proto.Proc(i), &m.seats[i]
		switch {
		case p == a.Slot:
			s.known, s.card = a.Life, ""
		case s.dead():
			m.send(g, control.Message{Type: control.Death, Proc: p, Incarnation: s.ended - 1})
		case s.known > 0:
			m.send(g, control.Message{Type: control.Admit, Proc: p, Incarnation: s.known, Card: s.card})
		}
	}
	m.send(g, control.Message{Type: control.Take, Proc: a.Slot, Incarnation: a.Life})
}

// fail ends the present attempt, and its newcomer.
func (m *Machine) fail(why string) {
	a := m.attempt
	if a == nil {
		return
	}
	if a.Committed() { // it is a replica, but not all know it
		m.bury(a.Slot, a.Life)
		return
	}
	code := 1
	if m.board.IsOver() {
		code = 0
	}
	m.giveUp(why, !m.donates(a.Donor), code)
}

// giveUp ends the present attempt, and its newcomer with a code. excused says that it wasn't the newcomer's fault.
func (m *Machine) giveUp(why string, excused bool, code int) {
	a := m.attempt
	a.Blame(why)
	m.attempt = nil
	m.send(a.newcomer, control.Message{Type: control.Dismissed, Code: code, Text: a.Why})
	m.drop(a.newcomer)
	m.note(m.board.Failed(excused))
	s := &m.seats[a.Slot]
	s.ended = max(s.ended, a.Life+1)
	if a.admitted {
		m.tell(control.Message{Type: control.Death, Proc: a.Slot, Incarnation: a.Life})
	}
}

// depart says that somebody has left in order: the job is about to end, and nobody needs newcomers any more. The spares must know it, should this
// one be stopped before it can send them away.
func (m *Machine) depart() {
	if m.departed {
		return
	}
	m.departed = true
	for _, g := range m.guests {
		if g.spare {
			m.send(g, control.Message{Type: control.Finalized})
		}
	}
	if m.empty != proto.Never {
		m.empty = min(m.empty, m.now+proto.Time(absence))
	}
	for _, note := range m.board.Over() {
		m.note(note)
	}
	if a := m.attempt; a != nil && !a.Committed() {
		m.fail(vacancy.End)
	}
}
