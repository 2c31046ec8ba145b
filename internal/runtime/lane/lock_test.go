package lane

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Goroutines that lock as Go does, and some that lock as C does, never hold the lock at the same
// time, and all of them come to their end. The race detector sees no race in what the lock guards,
// though the lock's word is in memory that it doesn't watch.
func TestLock(t *testing.T) {
	const goroutines, times = 8, 3000
	m, err := New(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := m.NewLock()
	inside, entered, refused := 0, 0, 0
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range times {
				if g%2 == 0 || !l.TryLock() { // who is refused enters Go
					l.Lock()
					refused += g % 2
				}
				if inside++; inside != 1 {
					t.Errorf("%d owners", inside)
				}
				entered++
				inside--
				l.Unlock()
			}
		})
	}
	wg.Wait()
	if entered != goroutines*times || m.word.Load() != 0 {
		t.Errorf("%d times locked, the word is %d in the end", entered, m.word.Load())
	}
	t.Logf("%d refused", refused)
}

// A thread that gives the lock up because it is wanted, and wants it back at once, comes after
// those that waited.
func TestLockIsFair(t *testing.T) {
	var word atomic.Uint32
	l := NewLock(&word)
	var turn atomic.Bool
	l.Lock()
	go func() {
		l.Lock()
		turn.Store(true)
		l.Unlock()
	}()
	for deadline := time.Now().Add(time.Minute); !l.Wanted(); {
		if time.Now().After(deadline) {
			t.Fatal("the waiter isn't seen")
		}
	}
	if l.TryLock() {
		t.Error("TryLock took a lock that is held")
	}
	l.Unlock()
	if l.TryLock() {
		if !turn.Load() {
			t.Error("TryLock passed a waiter")
		}
		l.Unlock()
	}
	l.Lock()
	if !turn.Load() {
		t.Error("the lock's former owner came before the waiter")
	}
	l.Unlock()
}
