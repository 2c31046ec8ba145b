package engine

import (
	"testing"
	"time"

	"banyan/internal/proto"
)

// A late yield ends the yields for a while, each further one for twice as long. Many prompt yields
// end the doubling.
func TestGrudges(t *testing.T) {
	r := rivals{late: proto.Time(lateYield)}
	now := proto.Time(time.Second)
	late := func() proto.Time {
		r.yielded(now, now+r.late)
		now += r.late
		return r.until - now
	}
	prompt := func(n int) {
		for range n {
			r.yielded(now, now+r.late-1)
		}
	}
	prompt(10)
	if r.until > now {
		t.Error("prompt yields end the yields")
	}
	if got := late(); got != firstPause {
		t.Errorf("no yields for %v after the first late one", time.Duration(got))
	}
	prompt(promptYields - 1)
	if got := late(); got != 2*firstPause {
		t.Errorf("no yields for %v after the second", time.Duration(got))
	}
	for range 20 {
		late()
	}
	if got := late(); got != longestPause {
		t.Errorf("no yields for %v after many", time.Duration(got))
	}
	prompt(promptYields)
	if got := late(); got != firstPause {
		t.Errorf("no yields for %v although there was trust again", time.Duration(got))
	}
}

// A yield among many waiters may take as long as all of them take.
func TestLate(t *testing.T) {
	for crowd, want := range map[int]time.Duration{0: time.Millisecond, 1: time.Millisecond, 4: time.Millisecond, 8: 2 * time.Millisecond, 32: 8 * time.Millisecond} {
		if got := (&Config{Crowd: crowd}).late(); got != want {
			t.Errorf("%d on a core: late after %v, want %v", crowd, got, want)
		}
	}
}

// A thread that polls gives way to another one that wants the lock, even while it spins.
func TestSpinnerGivesWay(t *testing.T) {
	e := &Engine{}
	e.openLane() // it makes the lock
	e.waiting.awake.L = &e.mu
	e.mu.Lock()
	in := make(chan bool)
	go func() {
		e.lock()
		e.mu.Unlock()
		close(in)
	}()
	deadline := time.Now().Add(10 * time.Second)
	for {
		e.linger(1)
		select {
		case <-in:
			e.mu.Unlock()
			return
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the other goroutine never gets the lock")
		}
	}
}
