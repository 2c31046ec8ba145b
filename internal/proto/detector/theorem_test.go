package detector

import (
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// overlap lets f processes die at random, each while the configuration is still unstable from
// the earlier deaths: often neighbours, often in the middle of their sends.
func (w *world) overlap(f int) {
	n := len(w.nodes)
	last := proto.Proc(w.rng.IntN(n))
	for i := range f {
		when := w.now + proto.Time(w.rng.IntN(2*eta))
		if i > 0 {
			when = w.now + proto.Time(w.rng.IntN(1+w.rng.IntN(2*delta)))
		}
		w.runWhile(when, func() bool { return i == 0 || w.since != proto.Never })
		if i > 0 && w.since == proto.Never {
			return
		}
		victim := proto.Proc(w.rng.IntN(n))
		switch w.rng.IntN(4) {
		case 0, 1: // next to the dead
			victim = w.next[last]
		case 2:
			victim = w.prev[last]
		}
		for w.nodes[victim].gone {
			victim = (victim + 1) % proto.Proc(n)
		}
		last = victim
		if w.rng.IntN(2) == 0 {
			w.crash(victim)
			continue
		}
		w.nodes[victim].budget = w.rng.IntN(40)
		w.runWhile(w.now+3*delta, func() bool { return !w.nodes[victim].gone && (i == 0 || w.since != proto.Never) })
		w.nodes[victim].budget = -1
		if !w.nodes[victim].gone {
			if i > 0 && w.since == proto.Never {
				return
			}
			w.crash(victim)
		}
	}
}

// Theorem 1: within T(f), f ≤ ⌊log2 n⌋-1 overlapping deaths are known to all, and the ring is
// closed. No live process is ever taken for dead.
func TestStabilizationTime(t *testing.T) {
	runs := map[int]uint64{4: 50, 5: 50, 8: 200, 13: 100, 16: 100, 31: 50, 64: 40, 100: 20, 256: 8, 1000: 2, 4096: 1}
	for n, seeds := range runs {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			if n > 1000 && !explore.Long() {
				t.Skip("some seconds: make soak runs it")
			}
			if testing.Short() {
				seeds = (seeds + 9) / 10
			}
			tree := 0 // ⌊log2 n⌋
			for 2<<tree <= n {
				tree++
			}
			for seed := range seeds {
				f := 1 + int(seed)%(tree-1)
				if seeds < 10 {
					f = tree - 1
				}
				w := newWorld(n, seed)
				w.overlap(f)
				w.runWhile(w.now+bound(n, f), func() bool { return w.since != proto.Never })
				w.runUntil(w.now + 3*delta) // the configuration stays stable
				if w.checkStable(); w.problem != "" {
					t.Fatalf("seed %d, %d deaths: %s", seed, f, w.problem)
				}
				for f, took := range w.longest {
					if took > bound(n, f) {
						t.Fatalf("seed %d: unstable for %d after %d deaths, T = %d", seed, took, f, bound(n, f))
					}
				}
			}
		})
	}
}

// Two processes die. The second dies after each possible number of messages that it has sent
// since the first death, whether it is the observer, passes a broadcast on or isn't involved:
// every crash point between sends. The test runs without evidence, with evidence of all, and
// with evidence of the process that is counterclockwise of the dead.
func TestEveryCrashPointOfTwo(t *testing.T) {
	holders := map[string]func(holder, dead proto.Proc) (proto.Time, bool){
		"none":   nil,
		"all":    func(_, _ proto.Proc) (proto.Time, bool) { return tau / 2, true },
		"before": func(holder, dead proto.Proc) (proto.Time, bool) { return tau / 2, (holder+1)%8 == dead },
	}
	timings := uint64(4) // the first with all transits alike, the others random
	if explore.Long() {
		timings = 64
	}
	for name, held := range holders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := uint64(0)
			for run := range 7 * timings {
				second, seed := proto.Proc(1+run%7), run/7
				for point := 0; ; point++ {
					w := newWorld(8, seed)
					w.quiet, w.holders = seed == 0, held
					w.runUntil(eta + eta/2)
					w.crash(0)
					w.nodes[second].budget = point
					// It goes on sending for as long as the first death takes to settle, and a
					// little longer.
					w.runUntil(w.now + 2*delta)
					if !w.nodes[second].gone {
						break
					}
					cases++
					w.runUntil(w.now + bound(8, 2) + 3*delta)
					if w.checkStable(); w.problem != "" {
						t.Fatalf("%v dies after %d sends: %s", second, point, w.problem)
					}
					if w.longest[2] > bound(8, 2) || w.longest[1] > bound(8, 1) {
						t.Fatalf("%v dies after %d sends: unstable for %d", second, point, max(w.longest[1], w.longest[2]))
					}
				}
			}
			if cases < 7*timings*10 {
				t.Errorf("only %d cases", cases)
			}
		})
	}
}

// Three of 16 processes die, the second and the third after a number of messages each. The test
// takes a sample.
func TestCrashPointsOfThree(t *testing.T) {
	seeds := uint64(200)
	if explore.Long() {
		seeds = 6000
	} else if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		w := newWorld(16, seed)
		if seed%3 > 0 {
			w.holders = func(_, _ proto.Proc) (proto.Time, bool) {
				return proto.Time(w.rng.IntN(eta)), w.rng.IntN(3) < int(seed%3)
			}
		}
		w.runUntil(eta + eta/2)
		w.crash(0)
		// Often the observer and its observer.
		second, third := proto.Proc(1), proto.Proc(2)
		if w.rng.IntN(3) == 0 {
			second = proto.Proc(1 + w.rng.IntN(15))
		}
		if w.rng.IntN(3) == 0 {
			third = proto.Proc(1 + w.rng.IntN(15))
		}
		w.nodes[second].budget = w.rng.IntN(50)
		w.runUntil(w.now + proto.Time(w.rng.IntN(2*delta)))
		w.nodes[third].budget = w.rng.IntN(50)
		w.runUntil(w.now + bound(16, 3) + 10*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		for f, took := range w.longest {
			if took > bound(16, f) {
				t.Fatalf("seed %d: unstable for %d after %d deaths", seed, took, f)
			}
		}
	}
}

// In channels that don't keep order, and with transits of up to η, every process still learns
// of every death, and no live process is taken for dead.
func TestChannelsWithoutOrder(t *testing.T) {
	for seed := range uint64(100) {
		w := newWorld(16, seed)
		w.slow = eta
		w.overlap(3)
		w.runUntil(w.now + 20*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
	}
}
