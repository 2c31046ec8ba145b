// Package locks is the lock of one member's part of a window, for members that share no memory
// with it: who holds it, who waits, and what a death means. The part's owner runs it.
//
// # Rules
//
//   - Shared holders exclude exclusive ones, and an exclusive one all others.
//   - Requests are granted in their order: none overtakes another, so nobody starves.
//   - A holder of the exclusive lock that dies, or leaves without unlocking, leaves the part
//     abandoned: all that wait, and all that come later, are refused. Nobody knows what it has left
//     half written. A shared holder that dies just holds nothing any more.
//
// # Invariants
//
//   - Each request of a member that lives is answered once: granted or refused.
//   - A member has one lock, or one request, at a time. Others are dropped.
package locks

import "slices"

// Kind says what an Action does.
type Kind uint8

// The kinds.
const (
	Grant  Kind = iota // the lock is the member's
	Refuse             // the part is abandoned: Holder died or left
)

// Action is an answer to a member.
type Action struct {
	Kind   Kind
	Member int
	Holder int // of Refuse
}

// Actions are answers in the order in which they are given.
type Actions []Action

// request is a member that holds the lock, or wants it.
type request struct {
	member    int
	exclusive bool
}

// Machine is the lock of a part. The zero Machine is a free lock.
type Machine struct {
	holders []request // several, or one that is exclusive
	queue   []request
	lost    bool // the part is abandoned
	by      int
}

// Request asks for the lock.
func (m *Machine) Request(member int, exclusive bool, out *Actions) {
	if m.lost {
		*out = append(*out, Action{Refuse, member, m.by})
		return
	}
	if m.holds(member) >= 0 || slices.ContainsFunc(m.queue, func(r request) bool { return r.member == member }) {
		return
	}
	m.queue = append(m.queue, request{member, exclusive})
	m.grant(out)
}

// Release gives the lock back.
func (m *Machine) Release(member int, out *Actions) {
	if i := m.holds(member); i >= 0 {
		m.holders = slices.Delete(m.holders, i, i+1)
		m.grant(out)
	}
}

// Gone says that a member is dead, or has left.
func (m *Machine) Gone(member int, out *Actions) {
	m.queue = slices.DeleteFunc(m.queue, func(r request) bool { return r.member == member })
	i := m.holds(member)
	if i >= 0 && m.holders[i].exclusive {
		m.lost, m.by = true, member
		for _, r := range m.queue {
			*out = append(*out, Action{Refuse, r.member, member})
		}
		m.holders, m.queue = nil, nil
		return
	}
	if i >= 0 {
		m.holders = slices.Delete(m.holders, i, i+1)
	}
	m.grant(out)
}

// holds is the index of a member among the holders, or -1.
func (m *Machine) holds(member int) int {
	return slices.IndexFunc(m.holders, func(r request) bool { return r.member == member })
}

// grant grants what can be.
func (m *Machine) grant(out *Actions) {
	for len(m.queue) > 0 {
		r := m.queue[0]
		if len(m.holders) > 0 && (r.exclusive || m.holders[0].exclusive) {
			return
		}
		m.queue = slices.Delete(m.queue, 0, 1)
		m.holders = append(m.holders, r)
		*out = append(*out, Action{Grant, r.member, 0})
	}
}
