package broadcast

import (
	"fmt"
	"math/bits"
	"testing"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// TestOrdered: with d = 8, 19 has heard of generations 1 and 2 when it sends its first
// correction. So it is of generation 3. From then on it relies on those of 3 that have a lower
// position, and not on those that have a higher one or are of 4.
func TestOrdered(t *testing.T) {
	c := Config{Tree: mustTree(topology.KAry(64, 1, topology.Interleaved)), Correction: Ordered, Distance: 8}
	var s State
	c.Start(&s, 19)
	c.Receive(&s, 18, KindTree)
	c.SendReady(&s, 0) // to its child
	send := func(want ...to) {
		t.Helper()
		for _, x := range want {
			if process, kind, ok := c.SendReady(&s, 0); !ok || (to{process, kind}) != x {
				t.Fatalf("sends %v to %d (%v), want %v", kind, process, ok, x)
			}
		}
	}
	c.Receive(&s, 27, KindLeft.withNumber(2))
	c.Receive(&s, 26, KindLeft.withNumber(1))
	left := KindLeft.withNumber(3)
	send(to{17, left}) // and 16 … 11, since 26 reaches 18
	c.Receive(&s, 23, KindLeft.withNumber(3))
	c.Receive(&s, 18, KindRight.withNumber(4))
	send(to{16, left}, to{15, left})
	c.Receive(&s, 22, KindLeft.withNumber(2)) // which reaches 14
	send(to{13, left})
	c.Receive(&s, 15, KindRight.withNumber(3))
	if process, kind, ok := c.SendReady(&s, 0); ok {
		t.Errorf("having heard from both sides, sends %v to %d", kind, process)
	}
	var late State
	c.Start(&late, 19)
	c.Receive(&late, 20, KindLeft.withNumber(lastGeneration))
	if late.generation != lastGeneration || late.heardRight != 0 {
		t.Errorf("after the last generation: %+v", late)
	}
}

// TestOrderedReaches tries every order in which processes can come to correct: for up to 9
// processes (8, if it isn't long) and all distances (unequal ones for up to 7), all sets of
// processes that are dead or that no message reaches, whatever the tree is and whenever it
// colours the others.
//
// What matters of a schedule is the generation of every process, and what it has heard by when.
// Let 0 be a live process that none has sent to so far. (Which process this is makes no
// difference: the ring looks the same from everywhere.) A process of a generation has heard of
// the one before when it sends its first correction, and it may have heard of all before.
// Hearing more never makes a process of the same generation send more. So the worst is that each
// has heard, before its first correction, of all generations before, and directly after it of all
// others. Then some process still must send to 0.
func TestOrderedReaches(t *testing.T) {
	most, orders := 8, 0
	if explore.Long() {
		most = 9
	}
	for procs := 2; procs <= most; procs++ {
		seen := map[[2]int32]bool{}
		for left := range procs {
			for right := range procs {
				if left != right && procs == 8 && !explore.Long() || left+right == 0 {
					continue
				}
				c := variant{correction: Ordered, distance: right, unequal: true, left: left}.config(star(procs))
				l, r := c.reach()
				if seen[[2]int32{l, r}] {
					continue
				}
				seen[[2]int32{l, r}] = true
				n, missed := unsentTo(c, c)
				if orders += n; missed != "" {
					t.Errorf("%d processes, distances %d and %d: none sends to 0: %s", procs, left, right, missed)
				}
			}
		}
	}
	t.Logf("%d orders", orders)
}

// TestOrderedReachesCanary: the same search finds that the printed rule leaves one out among four
// processes or more, and that processes do that rely on all senders.
func TestOrderedReachesCanary(t *testing.T) {
	for procs := 2; procs <= 5; procs++ {
		optimised := variant{correction: Optimised, distance: min(2, procs-1)}.config(star(procs))
		ordered := variant{correction: Ordered, distance: min(2, procs-1)}.config(star(procs))
		for _, m := range []machine{optimised, trusting{ordered}} {
			_, missed := unsentTo(ordered, m)
			if (missed != "") != (procs >= 4) {
				t.Errorf("%d processes, %T: %q", procs, m, missed)
			}
			t.Logf("%d processes: %s", procs, missed)
		}
	}
}

// star is a tree in which only 0 sends.
func star(procs int) topology.Tree {
	return mustTree(topology.KAry(procs, procs-1, topology.Interleaved))
}

// unsentTo returns the number of orders, and one of them in which no process sends to 0 in the end,
// "" if there is none. Generations are from 0 to n, without one that no process is of; -1 is for a
// process that isn't coloured. Processes that don't reach 0 make no difference.
func unsentTo(c *Config, m machine) (orders int, missed string) {
	procs := c.Tree.Procs()
	left, right := c.reach()
	generations := make([]int, procs)
	var choose func(p, n int, has uint) bool
	choose = func(p, n int, has uint) bool {
		if has != 0 && n+1-bits.OnesCount(has) > procs-p {
			return false // some generation will be left out
		}
		if p == procs {
			if has == 0 {
				return false // no process is coloured
			}
			orders++
			return !reaches(c, m, generations, n)
		}
		generations[p] = -1
		if choose(p+1, n, has) {
			return true
		}
		if p > int(left) && procs-p > int(right) {
			return false // it can't send to 0
		}
		for g := range procs {
			generations[p] = g
			if choose(p+1, max(n, g), has|1<<g) {
				return true
			}
		}
		return false
	}
	generations[0] = -1
	if choose(1, 0, 0) {
		missed = fmt.Sprint("generations ", generations)
	}
	return orders, missed
}

// reaches plays a broadcast in which processes are of the given generations, up to n, and says
// whether one of them sends to 0.
func reaches(c *Config, m machine, generations []int, n int) bool {
	procs := len(generations)
	left, right := c.reach()
	var states [16]State
	hear := func(p, q int) { // of a correction of q's, if that reaches p
		kind := KindRight
		switch {
		case c.distance(p, q) <= left:
			kind = KindLeft
		case c.distance(q, p) > right:
			return
		}
		m.Receive(&states[p], q, kind.withNumber(generations[q]))
	}
	for p := 1; p < procs; p++ {
		if generations[p] >= 0 {
			m.Start(&states[p], p)
			m.Receive(&states[p], 0, KindTree)
			for q := 1; q < procs; q++ {
				if 0 <= generations[q] && generations[q] < generations[p] {
					hear(p, q)
				}
			}
			if to, _, ok := m.SendReady(&states[p], 0); ok && to == 0 {
				return true
			}
		}
	}
	for p := 1; p < procs; p++ {
		if generations[p] < 0 {
			continue
		}
		for q := 1; q < procs; q++ {
			if q != p && generations[q] >= 0 {
				hear(p, q)
			}
		}
		for {
			to, _, ok := m.SendReady(&states[p], 0)
			if ok && to == 0 {
				return true
			}
			if !ok {
				break
			}
		}
	}
	return false
}
