// Package port pairs those who call at a port (MPI_Comm_connect) with the calls of the program
// that accept them (MPI_Comm_accept). The Machine is the port's side, a Caller the other one.
//
// # The conversation
//
//	caller            port
//	                  ← offer      a call of the program is there for it
//	take →                         it still wants to be connected
//	                  ← bind       the two belong together
//	                  ← refuse     at any time before bind: the port is closed
//
// A caller that dies, or gives up, before it takes an offer uses up no call: the next caller gets
// it. A call that is cancelled while an offer is under way leaves its caller in the queue, at its
// front: the answer to the offer is kept for the next call.
//
// # Invariants
//
//   - A call ends once: matched with a caller, or ended because it was cancelled or the port
//     closed.
//   - A caller is bound to one call, and that call is matched with it. No two calls have one
//     caller.
//   - No live caller waits while a call waits at an open port, but for messages under way.
//   - Callers are served in the order in which they came.
//
// # Limits
//
// A caller that dies after it has taken an offer is matched all the same. What follows between
// the two, package internal/job/join, finds it dead.
package port

import "slices"

// Kind says what an Action does.
type Kind uint8

// The kinds. Offer, Bind and Refuse are messages to a caller.
const (
	Offer Kind = iota
	Bind
	Refuse
	Matched // Call is matched with Caller
	Ended   // Call has ended without a caller
)

// Action is what the driver is to do.
type Action struct {
	Kind   Kind
	Caller int
	Call   int
}

// Actions are to be carried out in their order.
type Actions []Action

// caller is one that has called at the port.
type caller struct {
	id      int
	offered bool // it was sent an offer
	taken   bool // and has taken it
}

// Machine is the state of a port. The zero Machine is an open port.
type Machine struct {
	callers []caller // that aren't bound, in the order in which they came
	calls   []int    // that wait, likewise
	closed  bool
}

// Arrive says that a caller has come. Callers have different numbers.
func (m *Machine) Arrive(id int, out *Actions) {
	if m.closed {
		*out = append(*out, Action{Kind: Refuse, Caller: id})
		return
	}
	m.callers = append(m.callers, caller{id: id})
	m.pair(out)
}

// Take says that a caller has taken the offer.
func (m *Machine) Take(id int, out *Actions) {
	if i := m.index(id); i >= 0 && m.callers[i].offered {
		m.callers[i].taken = true
		m.pair(out)
	}
}

// Gone says that a caller is dead, or has given up.
func (m *Machine) Gone(id int, out *Actions) {
	if i := m.index(id); i >= 0 {
		m.callers = slices.Delete(m.callers, i, i+1)
		m.pair(out)
	}
}

// Accept says that a call of the program waits. Calls have different numbers.
func (m *Machine) Accept(call int, out *Actions) {
	if m.closed {
		*out = append(*out, Action{Kind: Ended, Call: call})
		return
	}
	m.calls = append(m.calls, call)
	m.pair(out)
}

// Cancel ends a call that waits.
func (m *Machine) Cancel(call int, out *Actions) {
	if i := slices.Index(m.calls, call); i >= 0 {
		m.calls = slices.Delete(m.calls, i, i+1)
		*out = append(*out, Action{Kind: Ended, Call: call})
	}
}

// Close closes the port: all that wait are told.
func (m *Machine) Close(out *Actions) {
	m.closed = true
	for _, c := range m.callers {
		*out = append(*out, Action{Kind: Refuse, Caller: c.id})
	}
	for _, call := range m.calls {
		*out = append(*out, Action{Kind: Ended, Call: call})
	}
	m.callers, m.calls = nil, nil
}

// pair binds those that have taken an offer, and makes as many offers as calls need.
func (m *Machine) pair(out *Actions) {
	for len(m.calls) > 0 {
		i := slices.IndexFunc(m.callers, func(c caller) bool { return c.taken })
		if i < 0 {
			break
		}
		id, call := m.callers[i].id, m.calls[0]
		m.callers, m.calls = slices.Delete(m.callers, i, i+1), m.calls[1:]
		*out = append(*out, Action{Bind, id, call}, Action{Matched, id, call})
	}
	offers := len(m.calls)
	for i := range m.callers {
		if c := &m.callers[i]; offers > 0 {
			if !c.offered {
				c.offered = true
				*out = append(*out, Action{Kind: Offer, Caller: c.id})
			}
			offers--
		}
	}
}

func (m *Machine) index(id int) int {
	return slices.IndexFunc(m.callers, func(c caller) bool { return c.id == id })
}

// State is how far a caller has come.
type State uint8

// The states.
const (
	Waits State = iota
	Took
	Bound
	Refused // the port is closed
	Broken  // the port's process has died, or breaks the rules
)

// Caller is the side of one that calls at a port.
type Caller struct{ State State }

// Hear takes a message of the port. It returns whether to answer that the offer is taken.
func (c *Caller) Hear(k Kind) (take bool) {
	switch {
	case c.State == Waits && k == Offer:
		c.State = Took
		return true
	case c.State == Took && k == Bind:
		c.State = Bound
	case c.State <= Took && k == Refuse:
		c.State = Refused
	case c.State <= Took:
		c.State = Broken
	}
	return false
}

// Lose says that the connection to the port has ended.
func (c *Caller) Lose() {
	if c.State <= Took {
		c.State = Broken
	}
}
