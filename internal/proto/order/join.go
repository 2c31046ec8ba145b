package order

import (
	"errors"

	"banyan/internal/varint"
)

// ErrState is what Restore returns for bytes that AppendState didn't write for such a machine.
var ErrState = errors.New("order: not the state of a replica of this process's rank")

// Admit says that a replica is being refilled by a replacement, which takes over the state of a
// donor. From here on the replacement counts as one that knows what the donor is known to know:
// it may be all that is left of the rank before this process hears of it again. Admit is called
// at all replicas before the donor's state is taken, at the donor first.
func (m *Machine) Admit(replica, donor int, out *Actions) {
	if replica == m.self || replica < 0 || replica >= MaxDegree || donor < 0 || donor >= MaxDegree {
		return
	}
	m.Dead(replica, out)
	m.joining |= only(replica)
	m.known[replica], m.told[replica], m.kept[replica] = m.known[donor], m.known[donor], 0
	m.turns[replica] = m.next
	m.next++
}

// Joined says that a replacement has the state of its donor, and takes part.
func (m *Machine) Joined(replica int, out *Actions) {
	if !m.joining.has(replica) {
		return
	}
	m.joining &^= only(replica)
	m.present |= only(replica)
	if m.leader == m.self {
		m.tellClaim(replica, out) // its donor may not have known yet which replica leads
	}
	if m.claiming {
		m.asked |= only(replica)
	}
	if m.Leads() {
		m.told[replica] = m.known[replica]
		m.tell(replica, out)
	}
	m.tellKnownTo(replica, out)
}

// AppendState appends what a replacement, a replica that was admitted, has to know.
func (m *Machine) AppendState(b []byte, replacement int) []byte {
	here, joining := m.present|only(replacement), m.joining&^only(replacement)
	b = varint.Append(b, uint64(here), uint64(joining), uint64(m.leader+1), uint64(m.self), uint64(m.next), uint64(m.followed))
	for all := here | joining; all != 0; all &= all - 1 {
		b = varint.Append(b, m.known[all.lowest()], uint64(m.turns[all.lowest()]))
	}
	b = varint.Append(b, uint64(len(m.records)))
	for _, r := range m.records {
		b = varint.AppendBytes(b, r)
	}
	return b
}

// Restore gives a replacement the state of its donor. It is told again then of deaths that it was
// told of before, and takes part from Commit on.
func (m *Machine) Restore(state []byte) error {
	r := varint.Read(state)
	*m = Machine{self: m.self, present: set(r.Uint()), joining: set(r.Uint())}
	leader, donor, next, followed := r.Uint(), r.Uint(), r.Uint(), r.Uint()
	all := m.present | m.joining
	if r.Failed() || donor >= MaxDegree || leader > MaxDegree || m.present&m.joining != 0 || donor == uint64(m.self) ||
		leader == uint64(m.self)+1 || !m.present.has(m.self) || !m.present.has(int(donor)) || leader > 0 && !m.present.has(int(leader)-1) {
		return ErrState
	}
	m.leader, m.next, m.followed = int(leader)-1, uint32(next), Term(followed)
	for ; all != 0; all &= all - 1 {
		m.known[all.lowest()], m.turns[all.lowest()] = r.Uint(), uint32(r.Uint())
	}
	m.known[m.self] = m.known[donor]
	for range r.Count() {
		m.records = append(m.records, append([]byte(nil), r.Bytes()...))
	}
	if !r.Done() || m.Stable() > m.Len() || uint64(len(m.records)) < m.Len()-m.Stable() || uint64(len(m.records)) > m.Len() {
		return ErrState
	}
	m.forget()
	return nil
}

// Commit makes a replacement that has Restored its donor's state a replica. The others are told
// before (Joined).
func (m *Machine) Commit(out *Actions) {
	m.joined = true
	m.tellKnown(out)
	m.claim(out)
}
