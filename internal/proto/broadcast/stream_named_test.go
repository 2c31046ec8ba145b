package broadcast

import (
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// namedSchemes are all trees with all corrections that a stream runs, with parameters that make
// few members show what they do.
func namedSchemes(delay proto.Time) (all []Scheme) {
	trees := []Scheme{
		{Tree: TreeBinomial}, {Tree: TreeBinomial, Numbering: topology.InOrder},
		{Tree: TreeLame, K: 2}, {Tree: TreeOptimal, Latency: 2, Overhead: 1}, {Tree: TreeKAry, K: 2},
		{Tree: TreeChain}, {Tree: TreeStar}, {Tree: TreeGossip, Rounds: 2},
	}
	for _, s := range trees {
		for c := range Correction(len(corrections)) {
			s := s
			if s.Correction = c; c == Delayed {
				s.Delay = delay
			}
			if c.HasDistance() {
				s.Distance, s.LeftDistance = 1, 2
			}
			if s.Validate() == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

func (s Scheme) name() string {
	return fmt.Sprintf("%s,%v,%v", s.Tree, s.Numbering, s.Correction)
}

// exploreNamed tries all ways that a broadcast of a scheme can go among a few members that all
// have started it.
func exploreNamed(t *testing.T, scheme Scheme, size int, payload []byte, prepare func(e *streamExplorer, w *smallWorld)) (states int) {
	t.Helper()
	e := &streamExplorer{
		roots: []int{0}, shape: Named, payload: payload,
		seen: map[[16]byte]bool{}, relays: map[State]uint32{},
	}
	w := newSmallWorld(size, scheme)
	prepare(e, &w)
	for m := range w.members {
		if !w.members[m].dead {
			e.startNext(&w, m)
		}
	}
	if problem := e.explore(w); problem != "" {
		t.Fatalf("%s, %d members, %d bytes: %s", scheme.name(), size, len(payload), problem)
	}
	return len(e.seen)
}

// TestStreamNamedExhaustive tries each scheme with a death at any point, of which all learn at any
// later one.
func TestStreamNamedExhaustive(t *testing.T) {
	size := 2
	if explore.Long() {
		size = 3
	}
	states := 0
	for _, scheme := range namedSchemes(0) {
		for _, payload := range [][]byte{{1}, {1, 2}} { // carried by corrections, or only offered
			states += exploreNamed(t, scheme, size, payload, func(e *streamExplorer, _ *smallWorld) { e.deaths = 1 })
		}
	}
	t.Logf("%d states", states)
}

// covers says whether a scheme promises to reach all live members when some are dead and nobody
// knows. The printed rule of optimised correction doesn't, if it goes both ways (optimised.go).
func (s Scheme) covers() bool {
	if s.Correction == Optimised {
		return s.Distance*s.LeftDistance == 0
	}
	return s.Correction.Corrects() || s.Tree == TreeStar || s.Tree == TreeGossip
}

// TestStreamNamedUntold tries each scheme with a dead member of which nobody hears. Corrections
// must reach all others.
func TestStreamNamedUntold(t *testing.T) {
	size := 3
	if explore.Long() {
		size = 4
	}
	states := 0
	for _, scheme := range namedSchemes(0) {
		if !scheme.covers() {
			continue
		}
		for dead := 1; dead < size; dead++ {
			states += exploreNamed(t, scheme, size, []byte{1}, func(e *streamExplorer, w *smallWorld) {
				e.unknown, w.members[dead].dead = true, true
				w.network.Deafen(dead)
			})
		}
	}
	t.Logf("%d states", states)
}

// namedWorld draws broadcasts of one scheme among some members, of which some die at any time.
func namedWorld(scheme Scheme, seed uint64) *streamWorld {
	w := randomStreamWorld(seed)
	cfg := w.cfg
	cfg.Scheme = scheme
	named := newStreamWorld(cfg, seed)
	for _, m := range w.members {
		named.members[m.self].budget = m.budget
	}
	for i := range w.roots {
		named.add(w.roots[i], w.sizes[i])
	}
	named.rng, named.ahead, named.slow, named.bare, named.chatty = w.rng, w.ahead, w.slow, w.bare, w.chatty
	named.named = true
	for _, m := range w.members {
		if m.dead {
			named.kill(named.members[m.self])
		}
	}
	return named
}

// Members die at random times. All live ones get every broadcast of a live root, and agree on those
// of dead ones, whatever the scheme.
func TestStreamNamedRandomDeaths(t *testing.T) {
	seeds := uint64(4)
	if explore.Long() {
		seeds = 1000
	}
	for i, scheme := range namedSchemes(30) {
		if i%2 == 0 {
			scheme.After = 40
		}
		for seed := range seeds {
			w := namedWorld(scheme, seed+1000*uint64(i))
			w.run()
			w.check()
			if w.problem != "" {
				t.Fatalf("%s, seed %d, size %d: %s", scheme.name(), seed, w.cfg.Size, w.problem)
			}
		}
	}
}

// untoldWorld draws one broadcast with dead members of which nobody hears, but no more in a row
// than an opportunistic correction covers.
func untoldWorld(scheme Scheme, seed uint64) *streamWorld {
	size := 4 + int(seed%29)
	w := newStreamWorld(StreamConfig{Size: size, PullDelay: 1 << 40, Scheme: scheme}, seed)
	w.named, w.untold = true, true
	w.add(0, []int{8, 0}[seed%2])
	for m := 1; m < size; m += 2 + w.rng.IntN(4) {
		w.kill(w.members[m])
	}
	return w
}

// reached says whether all live members have the first broadcast.
func (w *streamWorld) reached() bool {
	for _, m := range w.members {
		if !m.dead && m.outcome[0] != gotIt {
			return false
		}
	}
	return true
}

// What corrections promise holds in a stream too, where dead members are unknown and no pull helps.
func TestStreamNamedCovers(t *testing.T) {
	for _, scheme := range namedSchemes(30) {
		if !scheme.covers() || scheme.Correction == NoCorrection && scheme.Tree == TreeGossip {
			continue
		}
		for seed := range uint64(58) {
			w := untoldWorld(scheme, seed)
			w.runUntil(1 << 30)
			if !w.reached() {
				t.Fatalf("%s, seed %d, size %d: a live member was missed", scheme.name(), seed, w.cfg.Size)
			}
			if n := w.sent[FramePull]; n > 0 {
				t.Fatalf("%s, seed %d: %d pulls", scheme.name(), seed, n)
			}
		}
	}
}

// TestStreamNamedCanaries puts bugs in; the tests above must find them.
func TestStreamNamedCanaries(t *testing.T) {
	checked := Scheme{Tree: TreeBinomial, Correction: Checked}
	for name, found := range map[string]func(seed uint64) bool{
		"no correction": func(seed uint64) bool {
			w := untoldWorld(Scheme{Tree: TreeBinomial}, seed)
			w.runUntil(1 << 30)
			return !w.reached()
		},
		"corrections are lost": func(seed uint64) bool {
			w := untoldWorld(checked, seed)
			w.lose = func(f Frame) bool { return f.Kind == FrameCorrection }
			w.runUntil(1 << 30)
			return !w.reached()
		},
		"all correct to one side only": func(seed uint64) bool {
			w := untoldWorld(Scheme{Tree: TreeBinomial, Correction: Opportunistic, Distance: 1}, seed)
			for _, m := range w.members {
				m.trees[Named].Distance = 0
			}
			w.runUntil(1 << 30)
			return !w.reached()
		},
		"nobody pulls what gossip has missed": func(seed uint64) bool {
			w := namedWorld(Scheme{Tree: TreeGossip, Rounds: 2}, seed)
			w.lose = func(f Frame) bool { return f.Kind == FramePull }
			w.run()
			w.check()
			return w.problem != ""
		},
		"no pulls after deaths": func(seed uint64) bool {
			w := namedWorld(checked, seed)
			w.lose = func(f Frame) bool { return f.Kind == FramePull || f.Kind == FrameMissing }
			w.run()
			w.check()
			return w.problem != ""
		},
	} {
		seed := uint64(0)
		for seed < 300 && !found(seed) {
			seed++
		}
		if seed == 300 {
			t.Errorf("%s: 300 runs didn't show it", name)
		}
	}
}

// Without deaths a tree takes a message for each member, and a scheme as many corrections as its
// machine wants at most.
func TestStreamNamedMessages(t *testing.T) {
	const size, count = 16, 100
	for _, scheme := range namedSchemes(1 << 30) {
		scheme.After = 1 << 20 // till all have the broadcast
		w := newStreamWorld(StreamConfig{Size: size, PullDelay: 1 << 40, Scheme: scheme}, 3)
		w.named = true
		for range count {
			w.add(0, 8)
		}
		w.run()
		w.check()
		if w.problem != "" {
			t.Fatalf("%s: %s", scheme.name(), w.problem)
		}
		if n := w.sent[FrameTree]; scheme.Tree != TreeGossip && n != count*(size-1) {
			t.Errorf("%s: %d frames along the tree", scheme.name(), n)
		}
		corrections := w.sent[FrameCorrection] + w.sent[FrameOffer]
		most := map[Correction]int{NoCorrection: 0, Checked: 5 * size, Delayed: 3 * size, FailureProof: 12 * size}
		if each, is := most[scheme.Correction]; scheme.Tree != TreeGossip && corrections > count*max(each, map[bool]int{false: 3 * size}[is]) {
			t.Errorf("%s: %d corrections", scheme.name(), corrections)
		}
	}
}

func TestStreamIgnoresNonsenseOfSchemes(t *testing.T) {
	tree := Scheme{Tree: TreeLame, K: 2, Correction: Checked}
	gossip := Scheme{Tree: TreeGossip, Correction: Checked}
	for _, c := range []struct {
		scheme Scheme
		frame  Frame
	}{
		{Scheme{}, Frame{Kind: FrameTree, Shape: Named, Step: KindTree}},
		{tree, Frame{Kind: FrameTree, Shape: Named + 1}},
		{tree, Frame{Kind: FrameTree, Shape: Named, Step: KindAck}},
		{tree, Frame{Kind: FrameTree, Shape: Named, Step: KindGossip.withNumber(1)}},
		{tree, Frame{Kind: FrameCorrection, Shape: Named, Step: KindTree}},
		{tree, Frame{Kind: FrameOffer, Shape: Named, Step: KindAck}},
		{gossip, Frame{Kind: FrameTree, Shape: Named, Step: KindTree}},
		{gossip, Frame{Kind: FrameTree, Shape: Named}},
	} {
		var out StreamActions
		s := NewStream(StreamConfig{Self: 1, Size: 3, Window: 4, Scheme: c.scheme})
		c.frame.Number, c.frame.Payload = 1, []byte{1}
		s.Receive(0, 0, c.frame, &out)
		if len(out) != 1 || out[0].Kind != Recycle || !s.Idle() {
			t.Errorf("%+v: %+v, want the payload back", c.frame, out)
		}
	}
}
