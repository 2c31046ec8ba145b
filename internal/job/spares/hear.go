package spares

import (
	"fmt"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// maxIncarnation is more lives than a place ever has.
const maxIncarnation = 1 << 31

// Heard takes what a guest says. What makes no sense is ignored.
func (m *Machine) Heard(now proto.Time, id int, message control.Message, out *[]Action) {
	m.at(now, out)
	g := m.find(id)
	if g == nil || m.over || int(message.Proc) >= len(m.seats) || message.Proc < 0 || message.Incarnation >= maxIncarnation {
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
	case m.joining(g):
		m.heardReplacement(g, message)
	case message.Type == control.Spare:
		g.spare, g.pid, g.program = true, message.Pid, message.Number
		if m.departed {
			m.send(g, control.Message{Type: control.Finalized})
		}
	case message.Type == control.Finalized && g.spare:
		m.depart() // an earlier spare leader has told it so
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
	g.member, g.proc, g.incarnation, g.pid = true, message.Proc, message.Incarnation, message.Pid
	m.programs[m.layout.Rank(g.proc)] = int64(message.Number)
	m.known(g.proc, g.incarnation)
	if s.ended > g.incarnation || g.incarnation < s.known {
		m.fence(g)
		return
	}
	s.guest, s.card = g, message.Card
}

// fence tells a process that it is excluded, and sends it away.
func (m *Machine) fence(g *guest) {
	m.send(g, control.Message{Type: control.Death, Proc: g.proc, Incarnation: g.incarnation})
	m.drop(g)
}

// known notes that a process was admitted.
func (m *Machine) known(p proto.Proc, incarnation proto.Incarnation) {
	m.heals(func(out *[]recovery.Action) {
		m.healing.Filled(recovery.Process{Proc: p, Incarnation: incarnation}, out)
	})
	s := &m.seats[p]
	if incarnation <= s.known {
		return
	}
	s.known, s.card = incarnation, ""
	s.ended = max(s.ended, incarnation) // the lives before
	if g := s.guest; g != nil && g.incarnation < incarnation {
		s.guest = nil
		m.fence(g)
	}
}

// heardMember takes what a process of the job says.
func (m *Machine) heardMember(g *guest, message control.Message) {
	s := &m.seats[g.proc]
	switch message.Type {
	case control.Healable:
		m.healing.Healable(g.who())
	case control.Unhealable:
		m.once(m.name(g.proc) + " " + message.Text)
	case control.Knows:
		m.known(message.Proc, message.Incarnation)
	case control.Eviction:
		f := &m.seats[message.Proc]
		f.feared = max(f.feared, message.Incarnation+1)
		if a := m.healing.Current(); a != nil && a.Proc == message.Proc && a.Incarnation == message.Incarnation && !a.Committed() {
			m.fail(fmt.Sprintf("process %d holds it for dead", g.proc))
			return
		}
		m.judge(message.Proc)
	case control.Excluded:
		m.bury(message.Proc, message.Incarnation)
	case control.Mark:
		m.heals(func(out *[]recovery.Action) {
			m.healing.Mark(m.now, g.who(), recovery.Process{Proc: message.Proc, Incarnation: message.Incarnation}, out)
		})
	case control.Healed:
		m.heals(func(out *[]recovery.Action) { m.healing.Healed(m.now, g.who(), g.pid, out) })
	case control.Finalized:
		s.left, s.guest = true, nil
		m.depart()
		m.send(g, control.Message{Type: control.Finalized})
	}
}

// heardReplacement takes what a spare says that has been given a place.
func (m *Machine) heardReplacement(g *guest, message control.Message) {
	a := m.healing.Current()
	switch message.Type {
	case control.Arrived:
		m.seats[a.Proc].card = message.Card
		m.heals(func(out *[]recovery.Action) { m.healing.Arrived(m.now, a.Process, out) })
	case control.Committed:
		m.heals(func(out *[]recovery.Action) { m.healing.Committed(m.now, a.Process, out) })
	case control.HealFailed:
		m.fail(message.Text)
	case control.Unhealable:
		m.blame(message.Text, recovery.Donor)
	}
}

// judge looks whether a process that others hold for dead is.
func (m *Machine) judge(p proto.Proc) {
	if s := &m.seats[p]; s.feared > s.ended && (s.guest == nil || s.guest.incarnation >= s.feared) && !s.left {
		m.bury(p, s.feared-1)
	}
}

// bury takes the death of a process, in all incarnations up to one.
func (m *Machine) bury(p proto.Proc, incarnation proto.Incarnation) {
	s := &m.seats[p]
	if s.ended > incarnation || s.left {
		return
	}
	m.known(p, incarnation)
	s.ended = incarnation + 1
	m.tell(control.Message{Type: control.Death, Proc: p, Incarnation: incarnation})
	if !s.dead() {
		return // another has its place
	}
	if g := s.guest; g != nil {
		s.guest = nil
		m.drop(g)
	}
	if a := m.healing.Current(); a != nil && a.Proc == p && !a.Committed() {
		m.fail("the others hold it for dead")
		return
	}
	m.heals(func(out *[]recovery.Action) {
		m.healing.Died(m.now, recovery.Process{Proc: p, Incarnation: incarnation}, "", out)
	})
}

// complete says whether all who live are here: nobody else is spare leader then.
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

// spare is the one that takes a place, nil if none can: the highest, so that the spare leaders to
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
	if !m.reigns || m.over || m.later > m.turn || m.now < m.resumed || m.gathering() || !m.complete() {
		return
	}
	m.heals(func(out *[]recovery.Action) {
		m.healing.Next(m.now, func(slot proto.Proc) bool { return m.spare(slot) != nil }, m.donates, out)
	})
	if m.healing.Current() != nil || m.healing.IsOver() {
		return
	}
	if slot := m.healing.FirstFillable(m.donates); slot != proto.NoProc {
		m.once(fmt.Sprintf("%s stays dead: no spare process is left for it", m.name(slot)))
	}
}

// depart says that somebody has left in order: the job is about to end, and nobody needs replacements any more. The spares must know it, should this
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
	m.heals(m.healing.Over)
}
