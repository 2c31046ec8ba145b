package broadcast

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// to is a correction's receiver and kind.
type to struct {
	process int
	kind    Kind
}

// correctionsOf19 are those that process 19 of 64 sends after it has received some; d = 8.
func correctionsOf19(correction Correction, heard ...to) []to {
	c := Config{Tree: mustTree(topology.KAry(64, 1, topology.Interleaved)), Correction: correction, Distance: 8}
	var s State
	c.Start(&s, 19)
	c.Receive(&s, 18, KindTree)
	for _, x := range heard {
		c.Receive(&s, x.process, x.kind)
	}
	var sent []to
	for {
		process, kind, ok := c.SendReady(&s, 0)
		if !ok {
			return sent
		}
		if kind != KindTree {
			sent = append(sent, to{process, kind})
		}
	}
}

// TestPaperExampleOptimised is the example of section 3.3: with d = 8, 19 hears from 23 and so
// sends only to 14, …, 11. If it hears from the other side too it sends nothing more.
func TestPaperExampleOptimised(t *testing.T) {
	from23, from17 := to{23, KindLeft}, to{17, KindRight}
	onlyLeft := []to{{14, KindLeft}, {13, KindLeft}, {12, KindLeft}, {11, KindLeft}}
	if got := correctionsOf19(Optimised, from23); !slices.Equal(got, onlyLeft) {
		t.Errorf("sends %v, want 14 … 11 and nothing else", got)
	}
	if got := correctionsOf19(Optimised, to{25, KindLeft}, from23, to{27, KindLeft}); !slices.Equal(got, onlyLeft) {
		t.Errorf("with others behind 23, sends %v", got)
	}
	if got := correctionsOf19(Optimised, from17); !slices.Equal(got, []to{{26, KindRight}, {27, KindRight}}) {
		t.Errorf("having heard from 17, sends %v, want 26 and 27", got)
	}
	if got := correctionsOf19(Optimised, from23, from17); len(got) > 0 {
		t.Errorf("having heard from both sides, sends %v", got)
	}
	if got := correctionsOf19(Optimised); len(got) != 16 || got[0] != (to{20, KindRight}) || got[1] != (to{18, KindLeft}) {
		t.Errorf("having heard nothing, sends %v, want 20, 18, 21, 17, …", got)
	}
}

// TestSkipAhead: the same with the near side open.
func TestSkipAhead(t *testing.T) {
	got := correctionsOf19(SkipAhead, to{23, KindLeft})
	left := slices.DeleteFunc(slices.Clone(got), func(x to) bool { return x.kind != KindLeft })
	if len(got) != 12 || !slices.Equal(left, []to{{14, KindLeft}, {13, KindLeft}, {12, KindLeft}, {11, KindLeft}}) {
		t.Errorf("sends %v, want 14 … 11 and 20 … 27", got)
	}
}

// TestOptimisedLeavesOne: optimised correction doesn't keep non-faulty liveness. These are the
// smallest broadcasts that show it: four processes, one of them dead, d = 2. With fewer
// processes none is ever left.
func TestOptimisedLeavesOne(t *testing.T) {
	for procs := 2; procs <= 3; procs++ {
		for distance := 1; distance < procs; distance++ {
			for _, tree := range smallTrees(procs) {
				for dead := range deadSets(procs) {
					if err := exploreOptimised(tree, distance, dead); err != nil {
						t.Errorf("%d processes, d = %d, dead %b: %v", procs, distance, dead, err)
					}
				}
			}
		}
	}
	// Along the chain 0, 1, 2, 3, of which 2 is dead, 3 has to be reached by 1 from its left, or
	// by 0 from its right. 0 sends to 1, 1 to 0, and then each thinks that the other reaches 3.
	chain := mustTree(topology.KAry(4, 1, topology.Interleaved))
	err := exploreOptimised(chain, 2, 1<<2)
	if !errors.Is(err, errUnreached) {
		t.Fatalf("a chain of four: %v", err)
	}
	t.Log(err)
	for _, correction := range []Correction{SkipAhead, Opportunistic} {
		c := variant{correction: correction, distance: 2}.config(chain)
		if _, err := exploreAll(c, c, 1<<2, reduced); err != nil {
			t.Errorf("%v: %v", correction, err)
		}
	}
}

// exploreOptimised tries every interleaving of a broadcast with optimised correction, in which
// every live process must be coloured unless as many as the distance are dead in a row.
func exploreOptimised(tree topology.Tree, distance int, dead uint) error {
	c := variant{correction: Optimised, distance: distance}.config(tree)
	isDead := func(p int) bool { return dead>>p&1 != 0 }
	w := newWorld(c, c, isDead, gapsBelow(c, isDead))
	w.reduce = true
	if _, err := explore.All(w, stateLimit); err != nil {
		return fmt.Errorf("distance %d: %w", distance, err)
	}
	return nil
}
