// Package shutdown lets all processes of a job leave together: no process may leave
// while another could still need what it holds (messages retained for a
// substitute, payloads of broadcasts).
//
// It is a barrier that survives deaths. The first process that isn't gone
// coordinates: it collects a Done of every live process and answers AllDone to
// all. When it is gone, all turn to the next. Processes are in the order of
// their incarnations, then of their numbers: a replacement of a dead
// process (Admit) comes after all that were there from the start. The protocol is ours: it comes
// from no paper.
//
// # Why it works
//
// "Every live process has finished" stays true once it is true, because finishing is
// final and the set of live processes only shrinks: a process is admitted only while some
// live process that has admitted it won't finish before all live ones have. A coordinator says
// AllDone only when each process either told it Done or is gone, so AllDone is true whenever
// it is said, and stays so.
//
// If all live processes finish, let c be the first that stays. All before it are
// gone in the end, so every process that stays turns to c and tells it Done, even if it
// has completed already. So c completes, and answers all of them.
//
// # Invariants
//
//   - No process completes while a live process hasn't finished, as long as
//     no live process is said to be gone.
//   - Complete comes once, and after Finish.
//
// # Limits
//
// n-1 messages leave the coordinator in one step, and it receives as many.
package shutdown

import "banyan/internal/proto"

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions.
const (
	// SendDone tells To, the coordinator, that this process has finished.
	SendDone ActionKind = iota
	// SendAllDone tells To that every live process has finished.
	SendAllDone
	// Complete says that this process may leave.
	Complete
)

// Action is one thing to do.
type Action struct {
	Kind ActionKind
	To   proto.Proc // of SendDone and SendAllDone
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// Machine is the shutdown barrier of one process.
type Machine struct {
	self         proto.Proc
	done         []bool              // by Proc: said that it has finished
	gone         []bool              // by Proc: died or left
	incarnations []proto.Incarnation // by Proc: its incarnation
	coordinator  proto.Proc
	waiting      int // processes neither done nor gone
	complete     bool
}

// New makes the machine of one process of n.
func New(self proto.Proc, n int) *Machine {
	return &Machine{
		self:         self,
		done:         make([]bool, n),
		gone:         make([]bool, n),
		incarnations: make([]proto.Incarnation, n),
		waiting:      n,
	}
}

// Join makes the machine of a process that replaces a dead one. It is given the incarnations of
// all processes, its own among them, and those that are known to be gone.
func Join(self proto.Proc, incarnations []proto.Incarnation, gone []bool) *Machine {
	m := New(self, len(incarnations))
	copy(m.incarnations, incarnations)
	copy(m.gone, gone)
	m.gone[self] = false
	for _, g := range m.gone {
		if g {
			m.waiting--
		}
	}
	m.coordinator = m.first()
	return m
}

// Rejoin is Join for a process that has received messages since: a process that has finished still
// has, unless it has been replaced.
func (m *Machine) Rejoin(incarnations []proto.Incarnation, gone []bool) *Machine {
	n := Join(m.self, incarnations, gone)
	for p, done := range m.done {
		if done && m.incarnations[p] == incarnations[p] && !n.done[p] {
			n.done[p] = true
			if !n.gone[p] {
				n.waiting--
			}
		}
	}
	return n
}

// Finish says that the local process has finished and has been flushed: it needs
// nothing more from others. Only the first call counts.
func (m *Machine) Finish(out *Actions) {
	if m.done[m.self] {
		return
	}
	m.done[m.self] = true
	m.waiting--
	m.report(out)
}

// Done takes the word of a process that it has finished. That process takes this one for the
// coordinator.
func (m *Machine) Done(from proto.Proc, out *Actions) {
	if !m.done[from] {
		m.done[from] = true
		if !m.gone[from] {
			m.waiting--
		}
	}
	if m.complete {
		*out = append(*out, Action{Kind: SendAllDone, To: from})
		return
	}
	m.conclude(out)
}

// AllDone takes the word of a process that every live process has finished.
func (m *Machine) AllDone(_ proto.Proc, out *Actions) {
	if !m.complete {
		m.leaveTogether(out)
	}
}

// Gone takes the news that a process died or left.
func (m *Machine) Gone(p proto.Proc, out *Actions) {
	if m.gone[p] || p == m.self {
		return
	}
	m.gone[p] = true
	if !m.done[p] {
		m.waiting--
	}
	if p != m.coordinator {
		m.conclude(out)
		return
	}
	m.coordinator = m.first()
	m.report(out)
}

// Admit takes the news that a process that is gone has been replaced, under a higher incarnation.
// No process completes before the replacement has finished, or is gone in turn.
func (m *Machine) Admit(p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	if m.complete || p == m.self || incarnation <= m.incarnations[p] {
		return
	}
	if m.gone[p] || m.done[p] {
		m.waiting++
	}
	m.gone[p], m.done[p], m.incarnations[p] = false, false, incarnation
	if c := m.first(); c != m.coordinator {
		m.coordinator = c
		m.report(out)
	}
}

// first is the first process that isn't gone.
func (m *Machine) first() proto.Proc {
	c := m.self
	for p := range m.gone {
		if q := proto.Proc(p); !m.gone[p] && (m.incarnations[p] < m.incarnations[c] || m.incarnations[p] == m.incarnations[c] && q < c) {
			c = q
		}
	}
	return c
}

// report tells the coordinator that this process has finished, if it has. It does
// so even if it has completed, because others may not have.
func (m *Machine) report(out *Actions) {
	if m.coordinator == m.self {
		m.conclude(out)
	} else if m.done[m.self] {
		*out = append(*out, Action{Kind: SendDone, To: m.coordinator})
	}
}

// conclude lets the coordinator complete when it has no process left to wait for.
func (m *Machine) conclude(out *Actions) {
	if m.coordinator == m.self && m.waiting == 0 && !m.complete {
		m.leaveTogether(out)
	}
}

// leaveTogether answers all processes that took this one for the coordinator, and
// completes.
func (m *Machine) leaveTogether(out *Actions) {
	m.complete = true
	for p, done := range m.done {
		if q := proto.Proc(p); done && q != m.self && !m.gone[p] {
			*out = append(*out, Action{Kind: SendAllDone, To: q})
		}
	}
	*out = append(*out, Action{Kind: Complete})
}
