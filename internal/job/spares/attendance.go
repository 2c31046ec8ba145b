package spares

import (
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

const (
	// arrival is how long a spare leader waits for the first process of the job to connect. In
	// term 0 it waits as long for the other spares.
	arrival = 5 * time.Second
	// absence is how long it waits for a process to come back when the last one has gone without
	// leaving in order.
	absence = 2 * time.Second
)

// jobState is how far the job has come, as far as this spare knows.
type jobState uint8

const (
	jobUnseen jobState = iota // no process of the job has connected to this spare
	jobMet                    // one has
	jobEnding                 // one has left in order
)

// attendance records which processes have connected to a spare leader, and how long it waits for
// the others.
type attendance struct {
	job         jobState
	came        bool       // a process of the job has connected in this term
	deserted    proto.Time // when the wait for any process of the job ends; Never if one is here
	complete    proto.Time // when all live processes were last connected, or the wait for them began
	seen        []bool     // by spare: it has connected in this term
	sparesUntil proto.Time // when the wait for spares that haven't connected ends
}

// patience is how long a spare leader waits for processes that aren't connected and aren't dead,
// before it looks for them.
func (m *Machine) patience() proto.Time { return min(2*m.silence, proto.Time(arrival)/2) }

// await begins the waits of a term.
func (m *Machine) await() {
	m.sparesUntil = m.now + proto.Time(arrival)
	m.complete = m.sparesUntil
	if m.term > 0 { // all processes have started long ago
		m.complete, m.sparesUntil = m.now, m.now+m.silence
	}
	if m.deserted != proto.Never { // from an earlier term: they may be on their way
		m.deserted = max(m.deserted, m.now+m.patience()/2)
	}
}

// extend lengthens the waits of a spare leader that was stopped itself. The processes that tried
// to connect meanwhile are still waiting for it.
func (m *Machine) extend() {
	if m.deserted != proto.Never {
		m.deserted = max(m.deserted, m.now+m.patience()/2)
	}
}

// awaitsUnseenSpares says whether spares that no spare leader has seen may yet connect.
func (m *Machine) awaitsUnseenSpares() bool { return m.term < uint64(len(m.seen)) && m.awaitsSpares() }

// awaitsSpares says whether spares may yet connect. The last spare leader has been found gone,
// and in the first round of terms all earlier ones have. At the job's end the others are awaited
// in any term: no other process could tell them.
func (m *Machine) awaitsSpares() bool {
	if m.now >= m.sparesUntil {
		return false
	}
	for i, seen := range m.seen {
		spare, spares := uint64(i), uint64(len(m.seen))
		gone := spare < m.term && m.term < spares || m.term > 0 && spare == (m.term-1)%spares
		if !seen && !gone {
			return true
		}
	}
	return false
}

// isComplete says whether all live processes of the job are connected. Then no other spare leads.
func (m *Machine) isComplete() bool {
	for i := range m.slots {
		if s := &m.slots[i]; s.peer == nil && !s.dead() {
			return false
		}
	}
	return true
}

// search goes on to the next term, with all processes that are connected, if some live ones stay
// away. They may be with another spare leader that no process here knows of. A spare on the way
// that is one of theirs brings the two parties together.
func (m *Machine) search() {
	switch {
	case m.recovery.Current() != nil || m.recovery.IsOver() || m.isComplete():
		m.complete = m.now
	case m.now-m.complete > m.patience() && m.announced <= m.term:
		m.announced = m.term + 1
		*m.out = append(*m.out, Action{Kind: Advance, Term: m.announced})
	}
}

// attend looks whether processes of the job are connected, and whether any may yet be.
func (m *Machine) attend() {
	if !m.phase.leads() {
		return
	}
	here, expected := false, false
	for i := range m.slots {
		s := &m.slots[i]
		here = here || s.peer != nil
		expected = expected || !s.left && !s.dead()
	}
	switch {
	case here:
		m.came, m.job, m.deserted = true, max(m.job, jobMet), proto.Never
	case !expected && m.job == jobEnding && m.awaitsSpares():
		m.deserted = max(m.now, m.sparesUntil)
	case !expected && m.job == jobEnding:
		m.end(0, "")
	case !expected:
		m.end(1, "all processes of the job are dead")
	case m.deserted == proto.Never && (m.came || m.job == jobEnding):
		m.deserted = m.now + proto.Time(absence)
	case m.deserted == proto.Never:
		m.deserted = m.now + proto.Time(arrival)
	}
}

// giveUp ends the job if no process of it has been connected for too long.
func (m *Machine) giveUp() {
	switch {
	case m.now < m.deserted || m.phase == finished:
	case m.job == jobEnding:
		m.end(0, "")
	case m.job == jobMet:
		m.end(1, "no process of the job is left, and none has left in order")
	default:
		m.end(1, "no process of the job is there")
	}
}

// leave notes that a process has left in order: the job is about to end and needs no replacements
// any more. The spares must know it, in case this one is stopped before it can send them away.
func (m *Machine) leave() {
	if m.job == jobEnding {
		return
	}
	m.job = jobEnding
	for _, p := range m.peers {
		if p.spare {
			m.send(p, control.Message{Type: control.Finalized})
		}
	}
	if m.deserted != proto.Never {
		m.deserted = min(m.deserted, m.now+proto.Time(absence))
	}
	m.drive(m.recovery.Over)
}
