package window

// left in a part's word says that its holder has left in order, without unlocking.
const left = 1 << 31

// TryLock takes the lock of a part, alone or beside other holders of shared locks. It returns
// false if another member holds it, or if the part is Abandoned. The caller holds no lock of this
// part.
func (m *Memory) TryLock(part int, exclusive bool) (bool, error) {
	if m.locks == nil {
		return true, nil
	}
	w := m.word(part)
	if w.Load() != 0 {
		return false, nil
	}
	if got, err := m.locks.Try(part, 1, exclusive); !got {
		return false, err
	}
	if w.Load() != 0 { // its holder has died without a word
		m.locks.Release(part, 1)
		return false, nil
	}
	if exclusive {
		w.Store(uint32(m.self) + 1)
	}
	return true, nil
}

// Unlock gives the lock of a part back.
func (m *Memory) Unlock(part int, exclusive bool) {
	if m.locks == nil {
		return
	}
	if exclusive {
		m.word(part).Store(0)
	}
	m.locks.Release(part, 1)
}

// TryLockAll takes the shared locks of all parts, or of none.
func (m *Memory) TryLockAll() (bool, error) {
	if m.locks == nil {
		return true, nil
	}
	if m.marked() {
		return false, nil
	}
	if got, err := m.locks.Try(0, m.size, false); !got {
		return false, err
	}
	if m.marked() {
		m.locks.Release(0, m.size)
		return false, nil
	}
	return true, nil
}

// UnlockAll gives back what TryLockAll has taken.
func (m *Memory) UnlockAll() {
	if m.locks != nil {
		m.locks.Release(0, m.size)
	}
}

// marked tells whether any part has a holder, or had one that died.
func (m *Memory) marked() bool {
	for part := range m.size {
		if m.word(part).Load() != 0 {
			return true
		}
	}
	return false
}

// Abandoned tells whether a part can't be locked any more, because the member that held its
// exclusive lock is dead, as dead says, or has left: then nobody knows what it has left behind
// there. It is to be asked after TryLock has failed.
func (m *Memory) Abandoned(part int, dead func(member int) bool) (by int, hasLeft, is bool) {
	w := m.word(part).Load()
	if w == 0 {
		return 0, false, false
	}
	by, hasLeft = int(w&^left)-1, w&left != 0
	return by, hasLeft, hasLeft || by >= m.size || dead(by)
}

// Leave says that this member leaves without unlocking a part whose exclusive lock it holds.
func (m *Memory) Leave(part int) {
	if m.locks != nil {
		m.word(part).Store(uint32(m.self) + 1 | left)
	}
}
