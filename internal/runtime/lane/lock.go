package lane

import "sync/atomic"

// Lock is a lock that Go and C of one process share. The word has bit 0 while somebody holds the
// lock, and counts the goroutines that wait in the other bits. C never waits: it enters Go.
//
// No waiter is forgotten: if the lock is free and a goroutine waits, a token is in free or a waiter
// tries. For a lock with waiters becomes free only by Unlock, which puts a token there; a waiter
// that takes the token tries; and it fails only while another one holds the lock.
//
// A waiter that finds others before it waits for a token first, so that a thread which gives the
// lock up for them and wants it back comes after them.
type Lock struct {
	word *atomic.Uint32
	free chan struct{} // room for one token
}

const (
	held   = 1
	waiter = 2
	// tries is how often a waiter looks before it sleeps: most owners have the lock for less.
	tries = 200
)

// NewLock makes a free lock of a word.
func NewLock(word *atomic.Uint32) Lock { return Lock{word, make(chan struct{}, 1)} }

// TryLock takes the lock if it is free and nobody waits for it.
func (l *Lock) TryLock() bool {
	if !l.word.CompareAndSwap(0, held) {
		return false
	}
	l.acquired()
	return true
}

// Lock takes the lock, after those that wait already.
func (l *Lock) Lock() {
	if !l.word.CompareAndSwap(0, held) {
		l.wait()
	}
	l.acquired()
}

// Unlock gives the lock up.
func (l *Lock) Unlock() {
	l.released()
	if l.word.Add(^uint32(held-1)) != 0 {
		l.Signal()
	}
}

// Wanted says whether a goroutine waits for the lock.
func (l *Lock) Wanted() bool { return l.word.Load() > held }

// Signal wakes a goroutine that waits for the lock. C has it called when it has given the lock up
// and somebody waits.
func (l *Lock) Signal() {
	select {
	case l.free <- struct{}{}:
	default:
	}
}

func (l *Lock) wait() {
	if first := l.word.Add(waiter) < 2*waiter; !first {
		<-l.free
	}
	for {
		for range tries {
			if v := l.word.Load(); v&held == 0 && l.word.CompareAndSwap(v, v-waiter+held) {
				return
			}
		}
		<-l.free
	}
}
