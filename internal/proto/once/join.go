package once

import (
	"errors"

	"banyan/internal/varint"
)

// ErrState is what Restore returns for bytes that AppendState didn't write for such a machine.
var ErrState = errors.New("once: not the state of a replica of this process's rank")

// Admit says that a replica is being refilled by a replacement, which takes over the state of a
// donor. From here on nothing returns that the replacement doesn't know: it may be all that is
// left of the rank before this process hears of it again. Admit is called at all replicas before
// the donor's state is taken, at the donor first. What the donor knows at that time is over there,
// and so it is for the replacement.
func (m *Machine) Admit(replica, donor int, out *Actions) {
	if replica == m.self || replica < 0 || replica >= MaxDegree {
		return
	}
	m.Gone(replica, out)
	m.joining |= only(replica)
	m.turns[replica] = m.next
	m.next++
	for _, e := range m.entries { //banyan:maporder each by itself
		e.known, e.told = e.known&^only(replica), e.told&^only(replica) // of the one before it
		if e.known.has(donor) {
			e.known, e.told = e.known|only(replica), e.told|only(replica)
		}
	}
}

// Joined says that a replacement has the state of its donor, and takes part. The performer tells
// it what it lacks; so the others don't.
func (m *Machine) Joined(replica int, out *Actions) {
	if !m.joining.has(replica) {
		return
	}
	m.joining &^= only(replica)
	m.present |= only(replica)
	m.eachEntry(func(k Key, e *entry) {
		if e.mine && !e.known.has(replica) {
			m.tellResult(replica, k, e, out)
		}
		m.tellKnown(k, e, out)
	})
	if m.claiming { // behind what is known here
		m.asked |= only(replica)
		out.send(replica, Message{Kind: Claim})
	}
}

// AppendState appends what a replacement, a replica that was admitted, has to know of an Idle
// donor.
func (m *Machine) AppendState(b []byte, replacement int) []byte {
	here, joining := m.present|only(replacement), m.joining&^only(replacement)
	b = varint.Append(b, uint64(here), uint64(joining), uint64(m.next))
	(here | joining).each(func(r int) { b = varint.Append(b, uint64(m.turns[r])) })
	return b
}

// Restore gives a replacement the state of its donor. It is told again then of deaths that it was
// told of before, and takes part from Commit on.
func (m *Machine) Restore(state []byte) error {
	r := varint.Read(state)
	*m = Machine{self: m.self, present: set(r.Uint()), joining: set(r.Uint()), next: uint32(r.Uint()), entries: map[Key]*entry{}}
	if r.Failed() || m.present&m.joining != 0 || !m.present.has(m.self) {
		return ErrState
	}
	(m.present | m.joining).each(func(i int) { m.turns[i] = uint32(r.Uint()) })
	if !r.Done() {
		return ErrState
	}
	return nil
}

// Commit makes a replacement that has Restored its donor's state a replica. The others are told
// before (Joined).
func (m *Machine) Commit(out *Actions) {
	m.joined = true
	m.claim(out)
}
