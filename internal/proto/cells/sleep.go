package cells

// A member that sleeps, and members that wake it.

// waitsFor is what a member says that waits for another one's word or done.
func waitsFor(op Op, member int) uint64 {
	w := uint64(member)*2 + 2
	if op == AwaitDone {
		w++
	}
	return w
}

// waitsForAll is what a member says that waits for all that give in a call.
func waitsForAll(call uint64) uint64 { return 1<<63 | call }

// needs is what this member says that it waits for. Where somebody is dead, those that agree wake
// each other themselves: member 0 may be the dead one, or have gone on.
func (m *Machine) needs() uint64 {
	if m.after == AwaitWord && m.pattern != FromRoot && (m.pattern != Agree || m.gone == 0 || m.fault == allAnyway) {
		return waitsForAll(m.call)
	}
	return waitsFor(m.after, m.member)
}

// tri is what is known of a question.
type tri uint8

const (
	unknown tri = iota
	yes
	no
)

// sleeps looks at what a sleeper waits for. One that waits for all isn't woken by each of them,
// since each time would cost it a turn on its core.
//
// Where all take from all, a member that has what it waits for wakes member 0, and that one the
// others. So only pairs with member 0 need a way to wake each other, in place of all pairs. It
// sees the sleeper, since all memory accesses have an order: the sleeper lay down before it missed
// a word, and a member that has what it waits for has seen that word, and looks at sleepers after
// that.
//
// A root that takes from all is woken by the last of them, which sees it for the same reason.
func (m *Machine) sleeps(waits uint64) {
	switch {
	case waits == waitsFor(AwaitWord, m.self) || waits == waitsFor(AwaitDone, m.self):
		m.at = Notify
	case waits != waitsForAll(m.call) || m.dozing || m.complete == no || m.fault == lastIsQuiet:
		m.nextSleeper()
	case m.all() && m.self != 0 && (m.sleeper != 0 || m.fault == firstIsForgotten):
		m.nextSleeper()
	case m.all() || m.complete == yes:
		m.at = Notify
	default:
		m.looked = -1
		m.nextLook()
	}
}

// nextLook looks at the word of the next member that gives to the root, or has seen all of them.
func (m *Machine) nextLook() {
	for m.looked++; m.looked < m.size; m.looked++ {
		if m.looked != m.self && m.looked != m.root {
			m.at = Look
			return
		}
	}
	m.complete, m.at = yes, Notify
}

func (m *Machine) sawWord(word uint64) {
	if word>>NumberShift < m.call {
		m.complete = no
		m.nextSleeper()
		return
	}
	m.nextLook()
}

// Doze says that the driver is tired of waiting. What follows leads to Sleep, unless what this
// member waits for has come.
//
// First it says what it has completed: a call in which all hear from all may be done here and lost
// elsewhere, and the member to which it is lost may be the one that this one waits for, and wait
// for room itself.
func (m *Machine) Doze() {
	switch {
	case m.lying:
	case m.fault == silentSleep:
		m.after, m.at = m.at, Announce
	default:
		m.after, m.at, m.dozing = m.at, Finish, true
	}
}

// stay waits on: for the driver to look again, or asleep.
func (m *Machine) stay() bool {
	if m.lying {
		m.at = Sleep
		return true
	}
	return false
}

// rises has a member that was about to sleep get up first, and look again.
func (m *Machine) rises() bool {
	if m.lying {
		m.after, m.at = m.at, GetUp
		return true
	}
	return false
}

// nextSleeper looks for whom the store just made lets go on.
func (m *Machine) nextSleeper() {
	for m.bits != 0 {
		i := 0
		for m.bits&(1<<i) == 0 {
			i++
		}
		m.bits &^= 1 << i
		if !m.IsGone(i) {
			m.sleeper, m.at = i, Waits
			return
		}
	}
	if m.dozing {
		m.dozing, m.at = false, Announce
		return
	}
	m.at = End
}
