package spares

import (
	"fmt"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// Heard takes a peer's message. It ignores messages that make no sense.
func (m *Machine) Heard(now proto.Time, id int, message control.Message, out *[]Action) {
	m.at(now, out)
	p := m.find(id)
	if p == nil || m.phase == finished || int(message.Proc) >= len(m.slots) || message.Proc < 0 || message.Incarnation >= maxIncarnation {
		return
	}
	p.heard = now
	if message.Type == control.Term {
		m.heardTerm(p, message.Number)
		return
	}
	if i := m.number(p); i >= 0 && i < len(m.seen) {
		m.seen[i] = true
	}
	switch {
	case p.member:
		m.heardMember(p, message)
	case m.joining(p):
		m.heardReplacement(p, message)
	case message.Type == control.Spare:
		p.spare, p.pid, p.program = true, message.Pid, message.Number
		if m.job == jobEnding {
			m.send(p, control.Message{Type: control.Finalized})
		}
	case message.Type == control.Finalized && p.spare:
		m.leave() // an earlier spare leader has told it so
	case message.Type == control.Member && !p.spare:
		m.enrol(p, message)
	}
	m.attend()
	m.next()
}

// heardTerm takes a peer's message about the present term. If the peer is in a later term, this
// spare must follow. A peer in an earlier term must go on, unless this spare leads.
func (m *Machine) heardTerm(p *peer, term uint64) {
	if term >= maxTerm {
		return
	}
	p.term = term
	m.announced = max(m.announced, term)
	switch {
	case term > m.term:
		*m.out = append(*m.out, Action{Kind: Advance, Term: term})
	case term < m.term && m.phase == following:
		m.sendOn(p)
	}
}

// enrol takes a process of the job.
func (m *Machine) enrol(p *peer, message control.Message) {
	s := &m.slots[message.Proc]
	p.member, p.proc, p.incarnation, p.pid = true, message.Proc, message.Incarnation, message.Pid
	m.programs[m.layout.Rank(p.proc)] = int64(message.Number)
	m.known(p.proc, p.incarnation)
	if s.ended > p.incarnation || p.incarnation < s.known {
		m.fence(p)
		return
	}
	s.peer, s.card = p, message.Card
}

// fence tells a process that the job holds it for dead, and drops it.
func (m *Machine) fence(p *peer) {
	m.send(p, control.Message{Type: control.Death, Proc: p.proc, Incarnation: p.incarnation})
	m.drop(p)
}

// known notes that an incarnation of a slot was admitted.
func (m *Machine) known(slot proto.Proc, incarnation proto.Incarnation) {
	m.drive(func(out *[]recovery.Action) {
		m.recovery.Filled(recovery.Process{Proc: slot, Incarnation: incarnation}, out)
	})
	s := &m.slots[slot]
	if incarnation <= s.known {
		return
	}
	s.known, s.card = incarnation, ""
	s.ended = max(s.ended, incarnation) // the earlier ones are dead
	if p := s.peer; p != nil && p.incarnation < incarnation {
		s.peer = nil
		m.fence(p)
	}
}

// heardMember takes a message of a process of the job.
func (m *Machine) heardMember(p *peer, message control.Message) {
	s := &m.slots[p.proc]
	switch message.Type {
	case control.Healable:
		m.recovery.Healable(p.process())
	case control.Unhealable:
		m.noteOnce(m.name(p.proc) + " " + message.Text)
	case control.Knows:
		m.known(message.Proc, message.Incarnation)
	case control.Eviction:
		evicted := &m.slots[message.Proc]
		evicted.reported = max(evicted.reported, message.Incarnation+1)
		if a := m.recovery.Current(); a != nil && a.Proc == message.Proc && a.Incarnation == message.Incarnation && !a.Committed() {
			m.fail(fmt.Sprintf("process %d holds it for dead", p.proc))
			return
		}
		m.confirm(message.Proc)
	case control.Excluded:
		m.died(message.Proc, message.Incarnation)
	case control.Mark:
		m.drive(func(out *[]recovery.Action) {
			m.recovery.Mark(m.now, p.process(), recovery.Process{Proc: message.Proc, Incarnation: message.Incarnation}, out)
		})
	case control.Committed: // it was asked to give up
		m.drive(func(out *[]recovery.Action) { m.recovery.Committed(m.now, p.process(), out) })
	case control.Healed:
		m.drive(func(out *[]recovery.Action) { m.recovery.Healed(m.now, p.process(), p.pid, out) })
	case control.Finalized:
		s.left, s.peer = true, nil
		m.leave()
		m.send(p, control.Message{Type: control.Finalized})
	}
}

// heardReplacement takes a message of a spare that was given a slot and doesn't fill it yet.
func (m *Machine) heardReplacement(p *peer, message control.Message) {
	a := m.recovery.Current()
	switch message.Type {
	case control.Arrived:
		m.slots[a.Proc].card = message.Card
		m.drive(func(out *[]recovery.Action) { m.recovery.Arrived(m.now, a.Process, out) })
	case control.Committed:
		m.drive(func(out *[]recovery.Action) { m.recovery.Committed(m.now, a.Process, out) })
	case control.HealFailed:
		m.fail(message.Text)
	case control.Unhealable:
		m.blame(message.Text, recovery.Donor)
	}
}

// confirm takes the death of a process that others hold for dead, if it isn't connected either.
func (m *Machine) confirm(proc proto.Proc) {
	s := &m.slots[proc]
	if s.reported > s.ended && (s.peer == nil || s.peer.incarnation >= s.reported) && !s.left {
		m.died(proc, s.reported-1)
	}
}

// died takes the death of a process, in all incarnations up to this one.
func (m *Machine) died(proc proto.Proc, incarnation proto.Incarnation) {
	s := &m.slots[proc]
	if s.ended > incarnation || s.left {
		return
	}
	m.known(proc, incarnation)
	s.ended = incarnation + 1
	m.tellAll(control.Message{Type: control.Death, Proc: proc, Incarnation: incarnation})
	if !s.dead() {
		return // a later incarnation fills the slot
	}
	if p := s.peer; p != nil {
		s.peer = nil
		m.drop(p)
	}
	if a := m.recovery.Current(); a != nil && a.Proc == proc && !a.Committed() {
		m.fail("the others hold it for dead")
		return
	}
	m.drive(func(out *[]recovery.Action) {
		m.recovery.Died(m.now, recovery.Process{Proc: proc, Incarnation: incarnation}, "", out)
	})
}
