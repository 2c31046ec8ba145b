package window

import (
	"sync/atomic"
	"unsafe"
)

// Epochs of MPI_Win_post and MPI_Win_start need no lock: each member counts, in words that only it
// writes, how often it has exposed its part to each other member, and how often it has completed an
// epoch of accesses there. The other one compares with what it has seen so far. The counts of the
// dead stay as they are, and are right.
//
// A member that is going to sleep until such a count changes says so first (Doze), and looks once
// more. The one that has counted looks whether the other one may sleep, and wakes it.

// Event is what a member tells another one by counting.
type Event int

const (
	Posted    Event = postsRow // its part is exposed
	Completed Event = endsRow  // its accesses there are over
)

// Tell counts an event for another member, and tells whether that one may sleep.
func (m *Memory) Tell(e Event, to int) (sleeps bool) {
	m.in(m.self, int(e), to).Add(1)
	return m.dozing(to).Load() != 0
}

// Told is how often a member has counted an event for this one.
func (m *Memory) Told(e Event, from int) uint32 { return m.in(from, int(e), m.self).Load() }

// Dozing tells whether a member may sleep.
func (m *Memory) Dozing(member int) bool { return m.dozing(member).Load() != 0 }

// Doze says that this member may sleep, by one more thread or by one less.
func (m *Memory) Doze(begins bool) {
	if begins {
		m.dozing(m.self).Add(1)
	} else {
		m.dozing(m.self).Add(^uint32(0))
	}
}

func (m *Memory) dozing(member int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(m.memory.Base(), turnsAt+CacheLine*member+dozesAt))
}
