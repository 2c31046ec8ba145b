package broadcast

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// stateLimit stops an exploration that a mistake in a test has made too large.
const stateLimit = 3_000_000

// variant is a correction with its start.
type variant struct {
	correction Correction
	distance   int // on the right, and, unless unequal, on the left
	sync       bool
	unequal    bool
	left       int
	delay      proto.Time
	gossip     Gossip
}

func (v variant) String() string {
	name := fmt.Sprintf("%v,distance=%d,synchronised=%v", v.correction, v.distance, v.sync)
	if v.unequal {
		name += fmt.Sprintf(",left=%d", v.left)
	}
	if v.gossip.enabled() {
		name += fmt.Sprintf(",gossip=%d", v.gossip.Rounds)
	}
	return name
}

func (v variant) config(tree topology.Tree) *Config {
	c := &Config{Tree: tree, Correction: v.correction, Distance: v.distance, Synchronised: v.sync}
	c.Unequal, c.LeftDistance, c.Delay, c.Gossip = v.unequal, v.left, v.delay, v.gossip
	if v.sync {
		c.CorrectAt = 1
	}
	if err := c.Validate(); err != nil {
		panic(err)
	}
	return c
}

// covers says whether a broadcast must reach every live process.
func covers(c *Config, dead func(p int) bool) bool {
	switch c.Correction {
	case Checked, Delayed, FailureProof:
		return true
	case SkipAhead, Ordered, Opportunistic:
		if !c.Synchronised && gapsBelow(c, dead) {
			return true
		}
	case Optimised:
		if left, right := c.reach(); !c.Synchronised && gapsBelow(c, dead) && min(left, right) == 0 {
			return true
		}
	}
	if c.Gossip.enabled() {
		return false
	}
	for p := range c.Tree.Procs() {
		if dead(p) {
			return false
		}
	}
	return true
}

// gapsBelow says whether fewer dead than the larger distance are in a row everywhere.
func gapsBelow(c *Config, dead func(p int) bool) bool {
	run, longest := 0, 0
	for p := range c.Tree.Procs() {
		if run++; !dead(p) {
			run = 0
		}
		longest = max(longest, run)
	}
	left, right := c.reach()
	return longest < max(int(left), int(right))
}

// takesAway: see world.takesAway. Without that property much less can be left out.
func (v variant) takesAway() bool { return v.correction != Delayed && !v.gossip.enabled() }

// mode is how much of a world is explored.
type mode uint8

const (
	full    mode = iota // everything
	reduced             // all events that make a difference
	lazy                // the same, and messages in any order; for checked correction
)

// mode is the largest mode that is feasible for a variant.
func (v variant) mode() mode {
	if v.correction == Checked && !v.gossip.enabled() {
		return lazy
	}
	return reduced
}

// exploreAll tries every interleaving of sends and arrivals. If some processes are dead,
// synchronised correction may start at any time.
func exploreAll(c *Config, m machine, dead uint, how mode) (states int, err error) {
	stats, err := explore.All(treeWorld(c, m, dead, how), stateLimit)
	return stats.States, err
}

func treeWorld(c *Config, m machine, dead uint, how mode) *world {
	isDead := func(p int) bool { return dead>>p&1 != 0 }
	w := newWorld(c, m, isDead, covers(c, isDead))
	w.reduce, w.lazy = how >= reduced, how == lazy
	return w
}

// deadSets are all sets of dead processes; the root is live.
func deadSets(procs int) iter.Seq[uint] {
	return func(yield func(uint) bool) {
		for dead := uint(0); dead < 1<<procs; dead += 2 {
			if !yield(dead) {
				return
			}
		}
	}
}

// TestEverything explores all broadcasts to up to 5 processes, or up to 4 with delayed
// correction or gossip. It leaves out cases in which no process is dead: checked and synchronised
// ordered correction among 5, and delayed correction and gossip among 4. Those are some 10^7 states
// in which the tree reaches all processes; TestRandomSchedules covers them. TestCrashes is for
// failure-proof correction.
func TestEverything(t *testing.T) {
	for _, v := range []variant{
		{correction: NoCorrection}, {correction: Acknowledged},
		{correction: Checked}, {correction: Checked, sync: true},
		{correction: SkipAhead, distance: 1}, {correction: SkipAhead, distance: 2},
		{correction: SkipAhead, distance: 1, sync: true}, {correction: SkipAhead, distance: 2, sync: true},
		{correction: SkipAhead, distance: 2, unequal: true}, {correction: SkipAhead, distance: 1, unequal: true, left: 2},
		{correction: Optimised, distance: 1}, {correction: Optimised, distance: 1, sync: true}, {correction: Optimised, distance: 2, unequal: true},
		{correction: Ordered, distance: 1}, {correction: Ordered, distance: 2}, {correction: Ordered, distance: 2, sync: true},
		{correction: Ordered, distance: 2, unequal: true},
		{correction: Opportunistic, distance: 1}, {correction: Opportunistic, distance: 1, sync: true},
		{correction: Opportunistic, distance: 2, unequal: true}, {correction: Opportunistic, distance: 1, unequal: true, left: 2, sync: true},
		{correction: Delayed, delay: 1}, {correction: Delayed, delay: 1, sync: true},
		{correction: Checked, gossip: Gossip{Rounds: 2, Seed: 1}}, {correction: Opportunistic, distance: 1, gossip: Gossip{Rounds: 2, Seed: 2}},
	} {
		t.Run(v.String(), func(t *testing.T) {
			for procs := 1; procs <= 5; procs++ {
				if max(v.distance, v.left) >= max(2, procs) || procs > 4 && (testing.Short() || !v.takesAway()) {
					continue
				}
				if procs > 4 && v.distance > 1 && !v.unequal && !explore.Long() {
					continue // more than 10^6 states each: make soak visits them
				}
				if procs > 4 && v.correction == Checked && !v.sync && v.gossip == (Gossip{}) && !explore.Long() {
					continue // half the time of all variants, and the most states below that bound
				}
				states := 0
				for _, tree := range smallTrees(procs) {
					c, how := v.config(tree), v.mode()
					for dead := range deadSets(procs) {
						if dead == 0 && (procs == 5 && (how == lazy || v.correction == Ordered && v.sync) || procs == 4 && !v.takesAway()) {
							continue
						}
						n, err := exploreAll(c, c, dead, how)
						if states += n; err != nil {
							t.Fatalf("%d processes, dead %b: %v", procs, dead, err)
						}
					}
				}
				t.Logf("%d processes: %d states", procs, states)
			}
		})
	}
}

// smallTrees are a bushy tree and a deep one.
func smallTrees(procs int) []topology.Tree {
	return []topology.Tree{
		mustTree(topology.Binomial(procs, topology.Interleaved)),
		mustTree(topology.KAry(procs, 1, topology.Interleaved)),
	}
}

// TestReductions: what the reduced mode leaves out makes no difference; it comes to the same
// ends as all interleavings do. The lazy mode comes to these ends and to some more, since
// messages of a pair may overtake each other.
func TestReductions(t *testing.T) {
	for _, v := range []variant{
		{correction: Checked}, {correction: Checked, sync: true},
		{correction: SkipAhead, distance: 1}, {correction: SkipAhead, distance: 2}, {correction: NoCorrection},
		{correction: Optimised, distance: 1}, {correction: Optimised, distance: 2}, {correction: Ordered, distance: 1}, {correction: Ordered, distance: 2},
		{correction: Delayed, delay: 1}, {correction: Opportunistic, distance: 1}, {correction: FailureProof},
	} {
		for _, tree := range smallTrees(3) {
			c := v.config(tree)
			for dead := range deadSets(3) {
				want := ends(t, c, dead, full)
				if got := ends(t, c, dead, reduced); !maps.Equal(got, want) {
					t.Errorf("%v, dead %b, reduced: %d ends, want %d", v, dead, len(got), len(want))
				}
				if v.correction != Checked {
					continue
				}
				got := ends(t, c, dead, lazy)
				for end := range want {
					if !got[end] {
						t.Errorf("%v, dead %b: the lazy mode misses the end %s", v, dead, end)
					}
				}
			}
		}
	}
}

// ends explores a broadcast and returns, for every way in which it can end, what the processes
// have sent by then.
func ends(t *testing.T, c *Config, dead uint, how mode) map[string]bool {
	seen := map[string]bool{}
	w := treeWorld(c, c, dead, how)
	w.onEnd = func(w *world) {
		key := ""
		for p, s := range w.states {
			key += fmt.Sprint(s.Coloured(), s.sentLeft, s.sentRight, w.sent[p], " ")
		}
		seen[key] = true
	}
	if _, err := explore.All(w, stateLimit); err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestRandomSchedules tries larger broadcasts in an order chosen by a seed,
// with dead processes chosen by the seed too.
func TestRandomSchedules(t *testing.T) {
	run := func(seed uint64, procs int, v variant, rate float64) {
		t.Helper()
		if err := randomSchedule(seed, procs, v, rate, func(c *Config) machine { return c }); err != nil {
			t.Fatalf("%v, %d processes, %v dead: %v", v, procs, rate, err)
		}
	}
	variants := []variant{
		{correction: Checked}, {correction: Checked, sync: true}, {correction: Acknowledged},
		{correction: SkipAhead, distance: 1}, {correction: SkipAhead, distance: 2}, {correction: SkipAhead, distance: 4},
		{correction: SkipAhead, distance: 3, unequal: true}, {correction: SkipAhead, distance: 1, unequal: true, left: 4},
		{correction: Optimised, distance: 3}, {correction: Optimised, distance: 4, unequal: true},
		{correction: Ordered, distance: 2}, {correction: Ordered, distance: 4}, {correction: Ordered, distance: 3}, {correction: Ordered, distance: 3, unequal: true, left: 1},
		{correction: Opportunistic, distance: 2}, {correction: Opportunistic, distance: 1, unequal: true, left: 3},
		{correction: Opportunistic, distance: 2, sync: true}, {correction: Delayed, delay: 1}, {correction: Delayed, delay: 1, sync: true},
		{correction: Checked, gossip: Gossip{Rounds: 4, Seed: 1}}, {correction: Checked, sync: true, gossip: Gossip{Rounds: 3, Seed: 2}},
		{correction: Opportunistic, distance: 2, sync: true, gossip: Gossip{Rounds: 5, Seed: 3}}, {gossip: Gossip{Rounds: 6}},
	}
	for seed := uint64(1); seed <= 5000; seed++ {
		run(seed, 5+int(seed%20), variants[seed%uint64(len(variants))], float64(seed%4)/8)
	}
	for seed := range uint64(len(variants)) {
		run(1+seed, 200, variants[seed], 0.1)
	}
	if !testing.Short() {
		run(1, 1024, variants[0], 0.05)
		run(2, 1024, variants[5], 0.05)
	}
}

// randomSchedule runs one broadcast over a random tree; each process but the root is dead with
// the probability rate. The seed decides everything.
func randomSchedule(seed uint64, procs int, v variant, rate float64, as func(*Config) machine) error {
	random := rand.New(rand.NewPCG(seed, 1))
	tree := mustTree(randomTree(random, procs))
	isDead := make([]bool, procs)
	for p := 1; p < procs; p++ {
		isDead[p] = random.Float64() < rate
	}
	c, dead := v.config(tree), func(p int) bool { return isDead[p] }
	return explore.Random(newWorld(c, as(c), dead, covers(c, dead)), seed, 300*procs)
}

func randomTree(random *rand.Rand, procs int) (topology.Tree, error) {
	numbering := topology.Numbering(random.IntN(2))
	switch k := 1 + random.IntN(4); random.IntN(3) {
	case 0:
		return topology.KAry(procs, k, numbering)
	case 1:
		return topology.Lame(procs, k, numbering)
	default:
		return topology.Optimal(procs, random.IntN(6), k, numbering)
	}
}
