package reduction

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

func TestPrepareRefuses(t *testing.T) {
	tree, _ := topology.Binomial(8, topology.Interleaved)
	wide, _ := topology.KAry(100, 99, topology.Interleaved)
	for want, c := range map[string]Config{
		"needs a tree":          {Pace: 1, Hop: 4},
		"distance -1":           {Tree: tree, Distance: -1, Pace: 1, Hop: 4},
		"distance 8":            {Tree: tree, Distance: 8, Pace: 1, Hop: 4},
		"pace 0":                {Tree: tree, Hop: 4},
		"more than 64 children": {Tree: wide, Pace: 1, Hop: 4},
	} {
		if err := c.Prepare(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestNeighbours: every process has the same number of neighbours, all different, and is Origin
// of theirs.
func TestNeighbours(t *testing.T) {
	for procs := 1; procs <= 9; procs++ {
		for distance := range procs {
			tree, _ := topology.Binomial(procs, topology.Interleaved)
			c := prepared(t, tree, distance, false)
			for p := range procs {
				var got []int
				for i := range c.Neighbours() {
					n := c.Neighbour(p, i)
					if n == p || slices.Contains(got, n) || c.Origin(n, i) != p {
						t.Fatalf("%d processes, distance %d: neighbour %d of %d is %d, after %v", procs, distance, i, p, n, got)
					}
					got = append(got, n)
				}
				if len(got) != min(2*distance, procs-1) {
					t.Fatalf("%d processes, distance %d: %d neighbours", procs, distance, len(got))
				}
			}
		}
	}
}

// TestTimes compares the times with those of a broadcast in a binomial tree of 8, L = 2 and o =
// 1: 4 steps a hop, one between two sends.
func TestTimes(t *testing.T) {
	tree, _ := topology.Binomial(8, topology.Interleaved)
	c := prepared(t, tree, 1, false)
	want := []proto.Time{0, 4, 5, 8, 6, 9, 9, 12}
	for p, at := range want {
		if got := c.reached(p); got != at {
			t.Errorf("%d is reached at %d, want %d", p, got, at)
		}
	}
	if c.span != 12 || c.partDue(0) != 14 || c.End() != 38 {
		t.Errorf("span %d, root's part at %d, end at %d; want 12, 14, 38", c.span, c.partDue(0), c.End())
	}
}

func TestNoAllocations(t *testing.T) {
	tree, _ := topology.Binomial(64, topology.Interleaved)
	c := prepared(t, tree, 2, false)
	var s State
	if n := testing.AllocsPerRun(100, func() {
		c.Start(&s, 1)
		for now := range proto.Time(50) {
			c.Receive(&s, 3, KindPart)
			c.Receive(&s, 2, KindCopy)
			c.SendReady(&s, now)
			c.Deadline(&s, now)
		}
		c.Receive(&s, 0, KindMend)
		c.SendReady(&s, 50)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
