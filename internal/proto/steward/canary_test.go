package steward

import (
	"errors"
	"testing"

	"banyan/internal/proto"
)

// wrong configures agents whose steward trusts its own clock.
func wrong(c *Config) { c.Drift, c.Margin = 0, 0 }

// coarse configures agents for clocks that differ by a tenth.
func coarse(c *Config) {
	c.Drift = 100_000
	c.Margin = c.LeastMargin()
}

// TestCanaries checks that the simulated jobs find each mistake, and find none without it.
func TestCanaries(t *testing.T) {
	at := func(kind faultKind, host Host, from, until proto.Time) fault {
		return fault{kind: kind, host: host, side: 1 << host, at: from * sec, until: until * sec}
	}
	// moves is a fault that begins a little later with each seed.
	moves := func(f fault, step proto.Time, more ...fault) func(seed proto.Time) []fault {
		return func(seed proto.Time) []fault {
			f := f
			f.at += seed * step
			f.until += seed * step
			return append([]fault{f}, more...)
		}
	}
	three := setting{hosts: 3, procs: 6, drift: 1000}
	for _, tc := range []struct {
		bug    bug
		s      setting
		faults func(seed proto.Time) []fault
	}{
		{leaseForgotten, three, moves(at(cut, 2, 5, 20), 0)},
		{noMargin, setting{hosts: 3, procs: 6, drift: 100_000, configure: coarse}, moves(at(cut, 2, 5, 20), 0)},
		{ownSilence, three, moves(fault{kind: cut, side: 1, against: 4, at: 5 * sec, until: 20 * sec}, 0)},
		{oldTermObeyed, setting{hosts: 4, procs: 8, drift: 1000, slow: true}, moves(at(stop, 0, 10, 13), sec/50, at(kill, 3, 5, 5))},
		{promiseForgotten, three, moves(at(oneWay, 0, 5, 9), 0, at(stop, 0, 6, 8), at(kill, 2, 9, 9))},
		{notDurable, setting{hosts: 5, procs: 5, voters: 3, drift: 1000, slow: true},
			moves(fault{kind: cut, side: 1, against: 6, at: 10 * sec, until: 30 * sec}, sec/50, at(kill, 4, 5, 5))},
	} {
		t.Run(string(tc.bug), func(t *testing.T) {
			for seed := uint64(1); seed <= 20; seed++ {
				if err := play(tc.s, seed, tc.faults(proto.Time(seed)), 45*sec); err != nil {
					t.Fatalf("without the bug, seed %d: %v", seed, err)
				}
			}
			s := tc.s
			s.bug = tc.bug
			if tc.bug == noMargin {
				s.configure = wrong
			}
			var err error
			seed := uint64(1)
			for ; seed <= 300 && err == nil; seed++ {
				w := newWorld(s, seed)
				for _, f := range tc.faults(proto.Time(seed)) {
					w.strike(f)
				}
				w.finish = 60 * sec
				err = w.run(70 * sec)
			}
			if err == nil {
				for ; seed <= 2000 && err == nil; seed++ {
					err = playRandom(seed, 6, tc.bug)
				}
			}
			if err == nil || errors.Is(err, errLimit) {
				t.Fatalf("not caught: %v", err)
			}
			t.Logf("seed %d: %v", seed-1, err)
		})
	}
}

var errLimit = errors.New("too many steps")
