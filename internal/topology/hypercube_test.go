package topology

import (
	"math/bits"
	"slices"
	"testing"
)

// copyOf is a copy of a broadcast under way to a label.
type copyOf struct {
	cube, tree int
	label      int32
}

// spread runs a broadcast with some labels dead and returns the labels that get it. The rule
// says to which labels a label passes on the copy that it got.
func spread(n int, dead uint32, rule func(dst []copyOf, c copyOf, first bool) []copyOf) (reached uint32) {
	reached = 1
	queue := rule(nil, copyOf{}, true)
	var next []copyOf
	for len(queue) > 0 {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if dead>>c.label&1 == 1 {
			continue
		}
		first := reached>>c.label&1 == 0
		reached |= 1 << c.label
		next = rule(next[:0], c, first)
		queue = append(queue, next...)
	}
	return reached
}

// rotated is the rule of the rotated trees.
func rotated(n int) func(dst []copyOf, c copyOf, first bool) []copyOf {
	h := NewHypercubes(n)
	var labels []int32
	return func(dst []copyOf, c copyOf, _ bool) []copyOf {
		if c.label == 0 {
			for tree := range h.Trees() {
				for cube := range Cubes {
					for _, l := range h.AppendChildren(labels[:0], cube, tree, 0) {
						dst = append(dst, copyOf{cube, tree, l})
					}
				}
			}
			return dst
		}
		for _, l := range h.AppendChildren(labels[:0], c.cube, c.tree, c.label) {
			dst = append(dst, copyOf{c.cube, c.tree, l})
		}
		return dst
	}
}

// flooding is the rule "the first copy goes on to all neighbours, in all cubes".
func flooding(n int) func(dst []copyOf, c copyOf, first bool) []copyOf {
	h := NewHypercubes(n)
	return func(dst []copyOf, c copyOf, first bool) []copyOf {
		for cube := 0; cube < Cubes && first; cube++ {
			v, in := h.vertex(cube, c.label)
			for bit := 0; bit < h.Trees() && in; bit++ {
				if to := v ^ 1<<bit; to != 0 {
					dst = append(dst, copyOf{cube, 0, h.label(cube, to)})
				}
			}
		}
		return dst
	}
}

// circulant is the rule that the paper's section 2 states in passing: a copy goes to the labels
// at distance 2^j ahead (in cube 1: behind), wherever that is in the cube.
func circulant(n int) func(dst []copyOf, c copyOf, first bool) []copyOf {
	h := NewHypercubes(n)
	seen := map[[2]int]bool{}
	return func(dst []copyOf, c copyOf, _ bool) []copyOf {
		for cube := range Cubes {
			v, in := h.vertex(cube, c.label)
			if c.label != 0 && cube != c.cube || !in || seen[[2]int{cube, int(c.label)}] {
				continue
			}
			seen[[2]int{cube, int(c.label)}] = true
			for j := range h.Trees() {
				if to := v + 1<<j; to < 1<<h.Trees() {
					dst = append(dst, copyOf{cube, 0, h.label(cube, to)})
				}
			}
		}
		return dst
	}
}

// eachDead calls f with every set of at most limit of the labels 1…n-1.
func eachDead(n, limit int, f func(dead uint32)) {
	var choose func(from, left int, dead uint32)
	choose = func(from, left int, dead uint32) {
		f(dead)
		for l := from; left > 0 && l < n; l++ {
			choose(l+1, left-1, dead|1<<l)
		}
	}
	choose(1, limit, 0)
}

// TestBroadcastReachesAllLive: every broadcast reaches all live labels with up to k-1 dead, for
// all sets of dead labels up to n = 26. With k dead it need not, so the test can fail.
func TestBroadcastReachesAllLive(t *testing.T) {
	cut := 0
	for n := 1; n <= 26; n++ {
		k := NewHypercubes(n).Trees()
		all := uint32(1)<<n - 1
		rules := map[string]func() func([]copyOf, copyOf, bool) []copyOf{
			"rotated trees": func() func([]copyOf, copyOf, bool) []copyOf { return rotated(n) },
		}
		if n <= 20 {
			rules["flooding"] = func() func([]copyOf, copyOf, bool) []copyOf { return flooding(n) }
		}
		for name, rule := range rules {
			eachDead(n, max(k-1, 0), func(dead uint32) {
				if got := spread(n, dead, rule()); got != all&^dead {
					t.Fatalf("%s, n = %d, dead %b: %b are not reached", name, n, dead, all&^dead&^got)
				}
			})
		}
		if n <= 16 {
			eachDead(n, k, func(dead uint32) {
				if spread(n, dead, rotated(n)) != all&^dead {
					cut++
				}
			})
		}
	}
	if cut == 0 {
		t.Error("no k dead labels cut a broadcast off")
	}
}

// TestCirculantMissesLabels: the broadcast that the paper's text states in passing isn't
// reliable. With n = 11 and labels 1 and 2 dead, label 3 is never reached.
func TestCirculantMissesLabels(t *testing.T) {
	if got := spread(11, 0b110, circulant(11)); got>>3&1 == 1 {
		t.Error("label 3 of 11 was reached over the dead labels 1 and 2")
	}
	missed, cases := 0, 0
	for n := 2; n <= 26; n++ {
		eachDead(n, NewHypercubes(n).Trees()-1, func(dead uint32) {
			cases++
			if spread(n, dead, circulant(n)) != (uint32(1)<<n-1)&^dead {
				missed++
			}
		})
	}
	if missed != 352 || cases != 16497 {
		t.Errorf("labels were missed in %d of %d cases, want 352 of 16,497", missed, cases)
	}
}

// TestTreesAreDisjoint: each tree reaches every vertex of its cube once, and the paths to a
// vertex along the trees of a cube have no other vertex in common.
func TestTreesAreDisjoint(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8, 13, 32, 100, 1023} {
		h := NewHypercubes(n)
		copies := 0
		for cube := range Cubes {
			ways := make([][]int32, n) // all labels on the paths to one
			for tree := range h.Trees() {
				from := make([]int32, n)
				queue := h.AppendChildren(nil, cube, tree, 0)
				for len(queue) > 0 {
					at := queue[0]
					queue = queue[1:]
					copies++
					for _, to := range h.AppendChildren(nil, cube, tree, at) {
						if from[to] != 0 {
							t.Fatalf("n = %d: tree %d of cube %d reaches %d twice", n, tree, cube, to)
						}
						from[to] = at
						queue = append(queue, to)
					}
				}
				for v := uint32(1); v < 1<<h.Trees(); v++ {
					l := h.label(cube, v)
					for at := from[l]; at != 0; at = from[at] {
						if slices.Contains(ways[l], at) {
							t.Fatalf("n = %d, cube %d: two ways to %d by %d", n, cube, l, at)
						}
						ways[l] = append(ways[l], at)
					}
				}
			}
		}
		if copies != h.Copies() {
			t.Errorf("n = %d: %d messages, want %d", n, copies, h.Copies())
		}
	}
}

func TestChildrenOfOthers(t *testing.T) {
	for n := 1; n < 40; n++ {
		h := NewHypercubes(n)
		if h.Trees() != bits.Len(uint(n))-1 || h.Len() != n {
			t.Fatalf("n = %d: %d trees of %d labels", n, h.Trees(), h.Len())
		}
		for label := int32(1 << h.Trees()); label < int32(n); label++ {
			if c := h.AppendChildren(nil, 0, 0, label); len(c) != 0 {
				t.Errorf("n = %d: label %d isn't in cube 0 and has the children %d", n, label, c)
			}
		}
	}
}

// onePort is the time in steps of τ until the last label has a broadcast and until the last
// message is over, in the one-port model: a node sends one message at a time and receives one
// at a time, and each takes τ. Messages to a busy receiver wait for it, and don't delay their
// sender.
func onePort(n int, rule func(dst []copyOf, c copyOf, first bool) []copyOf) (all, end int) {
	type node struct {
		out, in []copyOf
		known   bool
	}
	nodes := make([]node, n)
	nodes[0].known = true
	nodes[0].out = rule(nil, copyOf{}, true)
	unknown := n - 1
	for step := 1; ; step++ {
		busy := false
		for i := range nodes {
			if out := &nodes[i].out; len(*out) > 0 {
				c := (*out)[0]
				*out = (*out)[1:]
				nodes[c.label].in = append(nodes[c.label].in, c)
				busy = true
			}
		}
		for i := range nodes {
			u := &nodes[i]
			if len(u.in) == 0 {
				continue
			}
			busy = true
			c := u.in[0]
			u.in = u.in[1:]
			first := !u.known
			if u.known = true; first {
				if unknown--; unknown == 0 {
					all = step
				}
			}
			u.out = rule(u.out, c, first)
		}
		if !busy {
			return all, step - 1
		}
	}
}

// TestOnePortTimes: the paper's bound is 8τ log2 n for a broadcast among heartbeats, and half
// of that for a broadcast alone. The source serves the cubes in turn. If it served one after
// the other, as in the paper's account, the last tree would start only after 2k (22τ).
func TestOnePortTimes(t *testing.T) {
	const n, bound = 4095, 4 * 12
	all, end := onePort(n, rotated(n))
	if all != 13 || end != 38 {
		t.Errorf("rotated trees: all reached after %dτ, quiet after %dτ, want 13 and 38", all, end)
	}
	flood, _ := onePort(n, flooding(n))
	if flood <= bound || all > bound {
		t.Errorf("flooding takes %dτ, rotated trees %dτ, half the bound is %dτ", flood, all, bound)
	}
	inTurn := func(dst []copyOf, c copyOf, first bool) []copyOf {
		dst = rotated(n)(dst, c, first)
		if c.label == 0 {
			slices.SortStableFunc(dst, func(a, b copyOf) int { return a.cube - b.cube })
		}
		return dst
	}
	if all, _ := onePort(n, inTurn); all != 22 {
		t.Errorf("rotated trees, cube after cube: all reached after %dτ, want 22", all)
	}
}
