package launcher

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Nothing is shown, since no console is there. A process is replaced, and then the launcher is lost
// together with the host of the donor, which alone kept what its rank had written before. The next
// launcher has that from the state. It is lost, too, before anything was shown, and the one after
// it shows everything.
func TestTail(t *testing.T) {
	t.Parallel()
	const n = 500
	r := newRelayed(t, 2)
	r.forgets = true
	r.dark.Store(true)
	r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2), Heal: true}, "rounds", "500", "5ms")
	state := func() *State {
		r.keeping.Lock()
		defer r.keeping.Unlock()
		if r.state == nil {
			return nil
		}
		s, err := DecodeState(r.state)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	await := func(is func(s *State) bool) {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if s := state(); s != nil && is(s) {
				return
			} else if time.Now().After(until) {
				t.Fatalf("it doesn't come so far: %+v", s)
			}
		}
	}
	await(func(s *State) bool {
		return !slices.ContainsFunc(s.Slots, func(x SlotState) bool { return !x.Entry.Ready })
	})
	time.Sleep(200 * time.Millisecond) // something is written
	syscall.Kill(r.pid(0), syscall.SIGKILL)
	await(func(s *State) bool { return s.Slots[0].Incarnation == 1 })
	if s := state(); s.Slots[0].Host != 0 || len(s.Slots[0].Tails[0]) == 0 || int64(len(s.Slots[0].Tails[0])) != s.Slots[0].Bases[0] {
		t.Fatalf("the replacement on host %d begins at %d, and its tail has %d bytes", s.Slots[0].Host, s.Slots[0].Bases[0], len(s.Slots[0].Tails[0]))
	}
	r.loseLauncher()
	r.kill[1]()
	r.dead[1] = true
	kept := r.firstKept()
	r.resume()
	for r.firstKept() == kept {
		time.Sleep(time.Millisecond)
	}
	r.loseLauncher()
	r.dark.Store(false)
	r.resume()
	r.check(r.end(), 2, n)
}

// What the tails of all replicas take is bounded. A tail that doesn't fit is given up, and begins
// anew with what comes then. What is shown is dropped.
func TestTailsKept(t *testing.T) {
	p := newPositions(1, true)
	one, other := &kept{of: &process{}}, &kept{of: &process{}}
	p.streams[0][0].kept = []*kept{one, other}
	piece := make([]byte, tailsKept/4)
	for i := range 10 {
		p.tails.wrote(one, piece, 0)
		p.tails.wrote(other, piece[:1000], 0)
		if p.tails.size > tailsKept || p.tails.size != len(one.tail)+len(other.tail) {
			t.Fatalf("after %d pieces: %d bytes, of which %d and %d are there", i, p.tails.size, len(one.tail), len(other.tail))
		}
	}
	if n := len(p.tail(0, other.of, false, 10_000)); n != 10_000 {
		t.Errorf("a tail of %d bytes, not 10000", n)
	}
	p.tails.trim(other, 4000)
	if n := len(p.tail(0, other.of, false, 9000)); n != 5000 {
		t.Errorf("a tail of %d bytes, not 5000", n)
	}
	p.tails.trim(one, 1<<40)
	p.tails.trim(other, 1<<40)
	if p.tails.size != 0 || p.tail(0, other.of, false, 10_000) != nil {
		t.Errorf("%d bytes are left", p.tails.size)
	}
}
