package window

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// A member that looks at a lock now and then hardly ever sees it free if its holder takes it again
// at once. So a member that has waited for Starves writes its number into a word of the part, and
// the others leave the lock to it for Yields at most: then they erase the word. It says which
// member should be first, and not which may be: what TryLock promises holds whatever is in there,
// also what a dead member has left. C looks at it before it takes a lock (capi/lane_lock.h).
const (
	Starves = 5 * time.Millisecond
	Yields  = 100 * time.Millisecond
)

// first is the number of the member that has waited long for a part's lock, from 1 on.
func (m *Memory) first(part int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(m.memory.Base(), turnsAt+CacheLine*part+firstAt))
}

// Waiter is a member's wait for the lock of a part.
type Waiter struct {
	m         *Memory
	part      int
	exclusive bool
	starves   time.Time // when it has waited long
	other     uint32    // who is to be first
	yields    time.Time // and until when
}

// Wait begins to wait for the lock of a part.
func (m *Memory) Wait(part int, exclusive bool, now time.Time) *Waiter {
	return &Waiter{m: m, part: part, exclusive: exclusive, starves: now.Add(Starves)}
}

// Try is TryLock, unless another member has waited long. It is to be called again after false, or
// Forgo.
func (w *Waiter) Try(now time.Time, dead func(member int) bool) bool {
	first, own := w.m.first(w.part), uint32(w.m.self)+1
	if other := first.Load(); other != 0 && other != own && w.m.lock(w.part).Load() != own|Wanted {
		if other != w.other {
			w.other, w.yields = other, now.Add(Yields)
		}
		if now.Before(w.yields) && !dead(int(other)-1) {
			return false
		}
		first.CompareAndSwap(other, 0)
	}
	w.other = 0
	if w.m.TryLock(w.part, w.exclusive, dead) {
		first.CompareAndSwap(own, 0)
		return true
	}
	if !now.Before(w.starves) {
		first.CompareAndSwap(0, own)
	}
	return false
}
