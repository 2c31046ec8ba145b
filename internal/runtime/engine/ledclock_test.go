package engine

import (
	"math"
	"testing"
)

// A clock goes on where the leader's was, at a replica whose own tells something else; the time of
// day is what this host has, but doesn't go back.
func TestLedClock(t *testing.T) {
	for _, c := range []struct {
		clock      Clock
		word, own  int64 // what the leader told, and this process's own then
		later      int64 // its own later
		want, last int64 // what it tells then, and when its own goes back
	}{
		{WtimeClock, 1000, 5, 8, 1003, 1003},
		{WtimeClock, 5, 1000, 1003, 8, 8},
		{CalendarClock, 1000, 990, 995, 1000, 1000},
		{CalendarClock, 1000, 1001, 1002, 1002, 1002},
	} {
		k := &ledClock{last: math.MinInt64}
		k.told(c.clock, c.word, c.own)
		if got := k.tells(c.clock, c.later); got != c.want {
			t.Errorf("clock %d tells %d after %d, not %d", c.clock, got, c.word, c.want)
		}
		k.last = c.want
		if got := k.tells(c.clock, 0); got != c.last {
			t.Errorf("clock %d goes back from %d to %d", c.clock, c.last, got)
		}
		r := &ledClock{last: math.MinInt64} // a replacement's, which leads before it is told anything
		r.goOn(c.last)
		if got := r.tells(c.clock, c.last-3); got != c.last {
			t.Errorf("clock %d tells %d at a replacement, not %d", c.clock, got, c.last)
		}
		if got := r.tells(c.clock, c.last+3) - c.last; got != 3 && c.clock.common() || got != 6 && !c.clock.common() {
			t.Errorf("clock %d stands still, or jumps by %d, at a replacement", c.clock, got)
		}
	}
}
