package window

import (
	"sync/atomic"
	"unsafe"
)

// The lock of a part is two kinds of words. Who wants it alone writes its number and wanted into
// the part's word, waits until nobody shares the lock, and takes wanted out. Who shares it says so
// in a word of its own for that part, or in one for all parts, and then looks whether somebody has
// it alone, or wants it. C has the same steps (capi/lane_lock.h).
//
// So a member that wants a lock alone waits for those that share it, and for nobody that comes
// later.
//
// A member that dies leaves its words. Who knows of the death clears what says that it shared a
// lock, or wanted one. What says that it had one alone stays: the part is Abandoned.

const (
	// Wanted in a part's word says that its member waits until nobody shares the lock.
	Wanted = 1 << 30
	// left says that its holder has left in order, without unlocking.
	left = 1 << 31
)

// lock is the number of the member that has the lock of a part alone, or wants it, from 1 on.
func (m *Memory) lock(part int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(m.memory.Base(), turnsAt+CacheLine*part+lockAt))
}

// shares says whether a member shares the lock of a part; the part after the last one is all parts.
func (m *Memory) shares(member, part int) *atomic.Uint32 { return m.in(member, sharesRow, part) }

// TryLock takes the lock of a part, alone or beside others that share it. It returns false if it
// has to wait, or if the part is Abandoned. It is to be called again then, or Forgo. dead says
// which members are known to be dead. The caller has no lock of this part.
func (m *Memory) TryLock(part int, exclusive bool, dead func(member int) bool) bool {
	if exclusive {
		return m.tryAlone(part, dead)
	}
	if !m.unlocked(part, dead) {
		return false
	}
	own := m.shares(m.self, part)
	own.Store(1)
	if m.lock(part).Load() == 0 {
		return true
	}
	own.Store(0)
	return false
}

// unlocked tells whether nobody has the lock of a part alone, or wants it.
func (m *Memory) unlocked(part int, dead func(member int) bool) bool {
	w := m.lock(part)
	for {
		holder := w.Load()
		switch {
		case holder == 0:
			return true
		case holder&Wanted == 0 || !dead(int(holder&^Wanted)-1):
			return false
		}
		w.CompareAndSwap(holder, 0)
	}
}

func (m *Memory) tryAlone(part int, dead func(member int) bool) bool {
	w, own := m.lock(part), uint32(m.self)+1
	for w.Load() != own|Wanted {
		if !m.unlocked(part, dead) {
			return false
		}
		w.CompareAndSwap(0, own|Wanted)
	}
	for member := range m.size {
		if member != m.self && !(m.sharesNot(member, part, dead) && m.sharesNot(member, m.size, dead)) {
			return false
		}
	}
	return w.CompareAndSwap(own|Wanted, own) // unless this member has been taken for dead
}

// sharesNot tells whether a member doesn't share the lock of a part.
func (m *Memory) sharesNot(member, part int, dead func(member int) bool) bool {
	shares := m.shares(member, part)
	if shares.Load() == 0 {
		return true
	}
	if dead(member) {
		shares.Store(0)
	}
	return shares.Load() == 0
}

// Forgo ends the wait for a lock that TryLock, or a Waiter, has begun.
func (m *Memory) Forgo(part int) {
	m.lock(part).CompareAndSwap(uint32(m.self)+1|Wanted, 0)
	m.first(part).CompareAndSwap(uint32(m.self)+1, 0)
}

// Unlock gives the lock of a part back.
func (m *Memory) Unlock(part int, exclusive bool) {
	if exclusive {
		m.lock(part).Store(0)
	} else {
		m.shares(m.self, part).Store(0)
	}
}

// TryLockAll shares the locks of all parts, or of none.
func (m *Memory) TryLockAll(dead func(member int) bool) bool {
	own := m.shares(m.self, m.size)
	own.Store(1)
	for part := range m.size {
		if !m.unlocked(part, dead) {
			own.Store(0)
			return false
		}
	}
	return true
}

// UnlockAll gives back what TryLockAll has taken.
func (m *Memory) UnlockAll() { m.shares(m.self, m.size).Store(0) }

// Abandoned tells whether a part can't be locked any more, because the member that held its
// exclusive lock is dead, as dead says, or has left: then nobody knows what it has left behind
// there. It is to be asked after TryLock has failed.
func (m *Memory) Abandoned(part int, dead func(member int) bool) (by int, hasLeft, is bool) {
	w := m.lock(part).Load()
	if w == 0 || w&Wanted != 0 {
		return 0, false, false
	}
	by, hasLeft = int(w&^left)-1, w&left != 0
	return by, hasLeft, hasLeft || by >= m.size || dead(by)
}

// Leave says that this member leaves without unlocking a part whose exclusive lock it holds.
func (m *Memory) Leave(part int) { m.lock(part).Store(uint32(m.self) + 1 | left) }

// Drop gives up all locks that this member shares, and those that it wants.
func (m *Memory) Drop() {
	for part := range m.size + 1 {
		m.shares(m.self, part).Store(0)
		if part < m.size {
			m.Forgo(part)
		}
	}
}
