package broadcast

import (
	"testing"
	"unsafe"

	"banyan/internal/topology"
)

func TestValidate(t *testing.T) {
	tree := mustTree(topology.Binomial(8, topology.Interleaved))
	for name, c := range map[string]Config{
		"no tree":              {},
		"unknown correction":   {Tree: tree, Correction: 9},
		"no distance":          {Tree: tree, Correction: Optimised},
		"distance":             {Tree: tree, Correction: Optimised, Distance: 8},
		"nothing to start":     {Tree: tree, Synchronised: true},
		"starts in the past":   {Tree: tree, Correction: Checked, Synchronised: true, CorrectAt: -1},
		"negative distance":    {Tree: tree, Correction: Optimised, Distance: -1},
		"acks to synchronise":  {Tree: tree, Correction: Acknowledged, Synchronised: true},
		"no distances":         {Tree: tree, Correction: Opportunistic, Unequal: true},
		"distance to the left": {Tree: tree, Correction: Optimised, Unequal: true, LeftDistance: 8},
		"unequal nothing":      {Tree: tree, Correction: Checked, Unequal: true},
		"negative delay":       {Tree: tree, Correction: Delayed, Delay: -1},
		"delay of nothing":     {Tree: tree, Correction: Checked, Delay: 1},
		"two ends of gossip":   {Tree: tree, Gossip: Gossip{Until: 3, Rounds: 3}},
		"too many rounds":      {Tree: tree, Gossip: Gossip{Rounds: 32}},
		"gossip in the past":   {Tree: tree, Gossip: Gossip{Until: -1}},
		"gossip acknowledged":  {Tree: tree, Correction: Acknowledged, Gossip: Gossip{Rounds: 3}},
		"corrects too early":   {Tree: tree, Correction: Checked, Gossip: Gossip{Until: 3}, Synchronised: true, CorrectAt: 2},
		"distance beyond ring": {Tree: mustTree(topology.Binomial(2, topology.Interleaved)), Correction: Optimised, Distance: 2},
	} {
		if c.Validate() == nil {
			t.Errorf("%s: valid", name)
		}
	}
	alone := Config{Tree: mustTree(topology.Binomial(1, topology.Interleaved)), Correction: Optimised, Distance: 1}
	if err := alone.Validate(); err != nil {
		t.Errorf("one process: %v", err)
	}
}

func TestNames(t *testing.T) {
	for c := NoCorrection; c <= FailureProof; c++ {
		if got, err := ParseCorrection(c.String()); err != nil || got != c {
			t.Errorf("%v is parsed as %v, %v", c, got, err)
		}
	}
	if _, err := ParseCorrection("magic"); err == nil {
		t.Error("magic is no correction")
	}
}

// TestKinds: a number doesn't change what a message is.
func TestKinds(t *testing.T) {
	for k := KindTree; k <= KindGossip; k++ {
		for n := range maxNumber + 1 {
			if x := k.withNumber(n); x.Base() != k || x.number() != n {
				t.Errorf("%v with %d is %v with %d", k, n, x.Base(), x.number())
			}
		}
	}
	if name := KindRight.withNumber(3).String(); name != "right+3" || Kind(0).String() != "kind 0" {
		t.Errorf("%q, %q", name, Kind(0))
	}
}

// TestStateIsSmall: the simulator keeps one for each of millions of processes.
func TestStateIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(State{}); size > 48 {
		t.Errorf("a State has %d bytes", size)
	}
}

// side is the kind of an opportunistic correction from one position to another, if the distances
// are equal.
func side(c *Config, from, to int) Kind {
	if int(c.distance(to, from)) <= c.Tree.Procs()/2 {
		return KindLeft
	}
	return KindRight
}

// TestSide: the side of a correction follows from its ends, and a process sends no opportunistic
// correction to another twice.
func TestSide(t *testing.T) {
	for procs := 2; procs <= 9; procs++ {
		for distance := 1; distance < procs; distance++ {
			for i := range 3 * procs {
				self, correction := i/3, Optimised+Correction(i%3)
				c := Config{Tree: mustTree(topology.KAry(procs, procs, topology.Interleaved)), Correction: correction, Distance: distance}
				var s State
				c.Start(&s, self)
				c.Receive(&s, 0, KindTree)
				reached := map[int]bool{}
				for {
					to, kind, ok := c.SendReady(&s, 0)
					if !ok {
						break
					}
					if kind == KindTree {
						continue
					}
					if reached[to] || side(&c, self, to) != kind {
						t.Fatalf("%d of %d sends %v to %d, side says %v, sent before: %v", self, procs, kind, to, side(&c, self, to), reached)
					}
					reached[to] = true
				}
				if want := min(2*distance, procs-1); len(reached) != want {
					t.Errorf("%d of %d, distance %d: %d corrections, want %d", self, procs, distance, len(reached), want)
				}
			}
		}
	}
}

// TestDistances: how far corrections reach for given distances, also in a ring that is too
// small for both.
func TestDistances(t *testing.T) {
	for _, x := range []struct {
		procs, left, right  int
		wantLeft, wantRight int32
	}{
		{64, 0, 4, 0, 4}, {64, 3, 1, 3, 1}, {8, 7, 7, 4, 3}, {9, 8, 8, 4, 4}, {8, 1, 7, 1, 6}, {8, 6, 1, 6, 1},
		{8, 0, 7, 0, 7}, {8, 7, 0, 7, 0}, {10, 7, 4, 5, 4}, {2, 1, 1, 1, 0}, {1, 1, 1, 0, 0},
	} {
		c := Config{
			Tree:       mustTree(topology.Binomial(x.procs, topology.Interleaved)),
			Correction: Opportunistic, Unequal: true, LeftDistance: x.left, Distance: x.right,
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if left, right := c.reach(); left != x.wantLeft || right != x.wantRight {
			t.Errorf("%d processes, %d and %d: reaches %d and %d, want %d and %d", x.procs, x.left, x.right, left, right, x.wantLeft, x.wantRight)
		}
	}
}

// TestPaperExample is the example of section 3.1: process 23 hears from 19 and 28 and so sends
// to 22, 24, 21, 25, 20, 26, 19, 27, 28.
func TestPaperExample(t *testing.T) {
	c := Config{Tree: mustTree(topology.KAry(64, 1, topology.Interleaved)), Correction: Checked}
	var s State
	c.Start(&s, 23)
	c.Receive(&s, 22, KindTree)
	c.SendReady(&s, 0) // to its child
	c.Receive(&s, 19, KindRight)
	c.Receive(&s, 28, KindLeft)
	for _, want := range []int{22, 24, 21, 25, 20, 26, 19, 27, 28} {
		if to, _, ok := c.SendReady(&s, 0); !ok || to != want {
			t.Fatalf("sends to %d (%v), want %d", to, ok, want)
		}
	}
	if to, _, ok := c.SendReady(&s, 0); ok {
		t.Errorf("goes on to %d", to)
	}
}
