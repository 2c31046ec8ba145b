package cells

// A member that gives: it sees whether its cell may be used again, and publishes.

// seekRoom begins to give: it sees whether the cell may be used again.
func (m *Machine) seekRoom() {
	if m.call <= m.floor+uint64(m.depth) || m.fault == noRoom {
		m.give()
		return
	}
	m.member, m.least = -1, m.call-1
	m.nextRoom()
}

// nextRoom looks at the next live member, or has seen that there is room.
func (m *Machine) nextRoom() {
	for m.member++; m.member < m.size; m.member++ {
		if m.member != m.self && !m.IsGone(m.member) {
			m.at = AwaitDone
			return
		}
	}
	m.floor = m.least
	m.give()
}

func (m *Machine) sawDone(done uint64) bool {
	if done+uint64(m.depth) < m.call && !m.IsGone(m.member) {
		return m.stay()
	}
	if m.rises() {
		return true
	}
	if !m.IsGone(m.member) {
		m.least = min(m.least, done)
	}
	m.nextRoom()
	return true
}

func (m *Machine) give() {
	switch {
	case !m.data:
		m.at = Publish
	case m.fault == claimLate:
		m.at = Write
	default:
		m.at = Claim
	}
}

func (m *Machine) published(ok uint64) {
	if ok == 0 && m.pattern == Agree {
		m.lose(m.self) // others take it for dead; whether they are right isn't decided here
		return
	}
	if ok == 0 {
		m.outcome, m.at = Fenced, End
		return
	}
	m.words[m.Cell()] = m.word()
	m.gave()
}

// gave goes on when this member has published.
func (m *Machine) gave() {
	if m.takes() { // it wakes others when it has all that it waits for
		m.await()
		return
	}
	m.at = Finish
}
