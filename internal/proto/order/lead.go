package order

// Dead says that a replica has died, or is excluded, which is the same. If it led, the
// next one claims to lead.
func (m *Machine) Dead(replica int, out *Actions) {
	if m.gone(replica) {
		m.excuse(replica, out)
	}
}

// Left says that a replica has finished in order. All decisions of its rank are known to all
// then, so it makes no difference who leads.
func (m *Machine) Left(replica int, out *Actions) {
	if m.gone(replica) {
		m.excuse(replica, out)
	}
}

// excuse goes on without a replica that is gone.
func (m *Machine) excuse(replica int, out *Actions) {
	m.asked &^= only(replica)
	if m.leader == none {
		m.claim(out)
	} else {
		m.lead(out)
	}
}

// gone takes out a replica, and says whether it was in.
func (m *Machine) gone(replica int) bool {
	if replica == m.self || replica < 0 || !(m.present | m.joining).has(replica) {
		return false
	}
	m.present &^= only(replica)
	m.joining &^= only(replica)
	m.ahead[replica] = ahead{}
	if replica == m.leader {
		m.leader = none
	}
	m.forget()
	return true
}

// claim makes this replica the leader if its turn has come: it asks the others for decisions
// that it lacks.
func (m *Machine) claim(out *Actions) {
	if m.leader != none || !m.joined || m.first() != m.self {
		return
	}
	m.claiming, m.asked = true, m.present&^only(m.self)
	m.follow(m.self)
	m.each(func(replica int) { m.tellClaim(replica, out) })
	m.lead(out)
}

// first is the replica whose turn it is to lead.
func (m *Machine) first() int {
	first := m.self
	m.each(func(replica int) {
		if m.turns[replica] < m.turns[first] {
			first = replica
		}
	})
	return first
}

func (m *Machine) tellClaim(replica int, out *Actions) {
	*out = append(*out, Action{replica, Message{Kind: Claim, First: m.Len() + 1}})
}

// lead begins to lead when all have answered, or won't. One that is joining may have the state
// of a donor that hasn't answered: it is asked as soon as it has joined. The others are told
// what they lack of the decisions that any of them knew, and that all of these are known here.
func (m *Machine) lead(out *Actions) {
	if !m.claiming || m.asked|m.joining != 0 {
		return
	}
	m.claiming = false
	m.told = m.known
	m.each(func(replica int) { m.tell(replica, out) })
	m.tellKnown(out)
}
