package once

// Gone says that a replica has died, or is excluded, which is the same; or that it has left, and
// so has come to the end of its program.
func (m *Machine) Gone(replica int, out *Actions) {
	m.gone(replica, out)
	m.claim(out)
}

func (m *Machine) gone(replica int, out *Actions) {
	if replica == m.self || !(m.present | m.joining).has(replica) {
		return
	}
	m.present &^= only(replica)
	m.joining &^= only(replica)
	m.asked &^= only(replica)
	if m.claiming {
		m.lead(out)
	}
	m.eachEntry(func(k Key, e *entry) { m.proceed(k, e, out) })
}

// claim makes this replica the performer if its turn has come: it asks the others for what it
// lacks.
func (m *Machine) claim(out *Actions) {
	if m.performs || m.claiming || !m.joined || m.first() != m.self {
		return
	}
	m.claiming, m.asked = true, m.others()
	m.tellAll(out)
	m.others().each(func(to int) { out.send(to, Message{Kind: Claim}) })
	m.lead(out)
}

// lead begins to perform when all have answered, or won't. What the others lack they are told: each
// has said all that it knows before it answered. A replacement that is joining is asked when it has
// joined: it may know what nobody else does.
func (m *Machine) lead(out *Actions) {
	if !m.claiming || m.asked|m.joining != 0 {
		return
	}
	m.claiming, m.performs, m.substitute = false, true, true
	m.eachEntry(func(k Key, e *entry) {
		if e.done {
			e.mine = true
			(m.others() &^ e.known).each(func(to int) { m.tellResult(to, k, e, out) })
		}
		m.proceed(k, e, out)
	})
}
