package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// counters are two processes that each add 1 to a shared number three times, in
// two steps: read, then write. atomic makes one step of them.
type counters struct {
	shared int
	local  [2]int // what was read, or -1
	done   [2]int
	atomic bool
}

type step int // of a process

func (s step) String() string { return fmt.Sprintf("p%d", int(s)) }

func (c *counters) Events(dst []step) []step {
	for p := range c.done {
		if c.done[p] < 3 {
			dst = append(dst, step(p))
		}
	}
	return dst
}

func (c *counters) Apply(p step) error {
	if c.atomic {
		c.shared++
		c.done[p]++
		return nil
	}
	if c.local[p] < 0 {
		c.local[p] = c.shared
		return nil
	}
	c.shared, c.local[p] = c.local[p]+1, -1
	c.done[p]++
	return nil
}

var errLost = errors.New("an update was lost")

func (c *counters) End() error {
	if c.shared != 6 {
		return errLost
	}
	return nil
}

func (c *counters) Clone() *counters            { d := *c; return &d }
func (c *counters) CopyInto(d *counters)        { *d = *c }
func (c *counters) AppendKey(dst []byte) []byte { return fmt.Append(dst, *c) }

func newCounters(atomic bool) *counters { return &counters{local: [2]int{-1, -1}, atomic: atomic} }

func TestAllFindsTheRace(t *testing.T) {
	_, err := All(newCounters(false), 1000)
	var v *Violation
	if !errors.As(err, &v) || !errors.Is(err, errLost) {
		t.Fatalf("got %v", err)
	}
	// What it reports leads there.
	w := newCounters(false)
	for _, e := range v.Events {
		p := step(e[1] - '0')
		if err := w.Apply(p); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.Events(nil)) > 0 || w.End() == nil {
		t.Errorf("%v reproduces nothing", v.Events)
	}
}

func TestAllVisitsEachStateOnce(t *testing.T) {
	stats, err := All(newCounters(true), 1000)
	if err != nil || stats != (Stats{States: 16, Ends: 1, Depth: 6}) {
		t.Errorf("%+v, %v", stats, err)
	}
	if stats, err := All(newCounters(true), 15); !errors.Is(err, ErrLimit) || stats.States != 15 {
		t.Errorf("the limit isn't kept: %+v, %v", stats, err)
	}
}

func TestRandomReproduces(t *testing.T) {
	for seed := uint64(1); seed < 100; seed++ {
		err := Random(newCounters(false), seed, 100)
		if err == nil {
			continue
		}
		if again := Random(newCounters(false), seed, 100); again == nil || again.Error() != err.Error() {
			t.Errorf("seed %d: %v, then %v", seed, err, again)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("seed %d", seed)) {
			t.Errorf("no seed in %v", err)
		}
		if err := Random(newCounters(true), seed, 5); err == nil || !strings.Contains(err.Error(), "no end") {
			t.Errorf("the limit isn't kept: %v", err)
		}
		return
	}
	t.Error("the race isn't found")
}

func TestSet(t *testing.T) {
	s := newSet()
	for round := range 2 {
		for i := range 100_000 {
			if s.add(fmt.Append(nil, i)) != (round == 0) {
				t.Fatalf("key %d in round %d", i, round)
			}
		}
	}
	if s.size != 100_000 {
		t.Errorf("%d keys", s.size)
	}
}

// even is a counter with something to say of odd states.
type even struct{ n, odd int }

func (c *even) Events(dst []step) []step {
	if c.n < 4 {
		dst = append(dst, 0)
	}
	return dst
}
func (c *even) Apply(step) error            { c.n++; return nil }
func (c *even) End() error                  { return nil }
func (c *even) Clone() *even                { d := *c; return &d }
func (c *even) AppendKey(dst []byte) []byte { return fmt.Append(dst, c.n) }
func (c *even) Check() error {
	if c.n == c.odd {
		return errLost
	}
	return nil
}

func TestAllChecksStates(t *testing.T) {
	if _, err := All(&even{odd: -1}, 10); err != nil {
		t.Error(err)
	}
	var v *Violation
	if _, err := All(&even{odd: 3}, 10); !errors.As(err, &v) || len(v.Events) != 3 {
		t.Errorf("got %v", err)
	}
}
