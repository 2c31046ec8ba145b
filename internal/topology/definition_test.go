package topology

import "testing"

// violation looks for a pair of processes that contradicts definition 1, word by word. The
// definition: a tree is interleaved if, in the ring of the processes of any subtree in the
// order of their numbers, any two distinct neighbours descend from each other, or have no
// common ancestor in the subtree but its root.
func violation(tree *Tree) (root, a, b int, found bool) {
	procs := tree.Procs()
	ancestors := make([][]int, procs) // from the process itself up to 0
	for p := range procs {
		for q := p; q >= 0; q = tree.Parent(q) {
			ancestors[p] = append(ancestors[p], q)
		}
	}
	descends := func(p, from int) bool {
		for _, q := range ancestors[p] {
			if q == from {
				return true
			}
		}
		return false
	}
	for root := range procs {
		var ring []int
		for p := range procs {
			if descends(p, root) {
				ring = append(ring, p)
			}
		}
		for i, a := range ring {
			b := ring[(i+1)%len(ring)]
			if a == b || descends(a, b) || descends(b, a) {
				continue
			}
			for _, q := range ancestors[a] {
				if q != root && descends(q, root) && descends(b, q) {
					return root, a, b, true
				}
			}
		}
	}
	return 0, 0, 0, false
}

// TestDefinition1 also checks lemma 1: trees that claim to be interleaved are, for every number
// of processes, full or not.
func TestDefinition1(t *testing.T) {
	for _, s := range shapes {
		for procs := 1; procs <= 60; procs++ {
			tree := mustMake(t, s, procs, Interleaved)
			if !tree.Interleaved() {
				continue
			}
			if root, a, b, found := violation(&tree); found {
				t.Fatalf("%s, %d processes: below %d, the neighbours %d and %d have another common ancestor", s.name, procs, root, a, b)
			}
		}
	}
}

// TestDefinition1Bites: in-order trees aren't interleaved. Neither are optimal trees where o
// doesn't divide L, for which the printed recurrence has no tree.
func TestDefinition1Bites(t *testing.T) {
	for name, c := range map[string]struct {
		shape
		numbering Numbering
	}{
		"binary, in order":        {kary(2), InOrder},
		"binomial, in order":      {shape{"binomial", Binomial}, InOrder},
		"optimal(3,2), by time":   {optimal(3, 2), Interleaved},
		"optimal(7,5), by time":   {optimal(7, 5), Interleaved},
		"optimal(3,2), in order":  {optimal(3, 2), InOrder},
		"optimal(1,1), in order ": {optimal(1, 1), InOrder},
	} {
		bites := false
		for procs := 1; procs <= 120 && !bites; procs++ {
			tree := mustMake(t, c.shape, procs, c.numbering)
			if _, _, _, bites = violation(&tree); bites && tree.Interleaved() {
				t.Errorf("%s, %d processes: says that it is interleaved", name, procs)
			}
		}
		if !bites {
			t.Errorf("%s: interleaved up to 120 processes", name)
		}
	}
}

// TestOptimalIsLame: the optimal tree is a Lamé tree where o divides L.
func TestOptimalIsLame(t *testing.T) {
	for _, c := range []struct{ latency, overhead, k int }{{0, 1, 2}, {1, 1, 3}, {2, 1, 4}, {6, 3, 4}, {8, 1, 10}} {
		for procs := 1; procs < 200; procs++ {
			a := mustMake(t, optimal(c.latency, c.overhead), procs, Interleaved)
			b := mustMake(t, lame(c.k), procs, Interleaved)
			for p := range procs {
				if a.Parent(p) != b.Parent(p) {
					t.Fatalf("optimal(%d,%d), %d processes: the parent of %d is %d, in lame(%d) %d",
						c.latency, c.overhead, procs, p, a.Parent(p), c.k, b.Parent(p))
				}
			}
		}
	}
}

// TestOptimalIsOptimal: no tree colours so many processes earlier than the optimal tree. It
// reaches them as early as if every process that has the message always sent it to a new one.
func TestOptimalIsOptimal(t *testing.T) {
	for _, c := range []struct{ latency, overhead int }{{0, 1}, {2, 1}, {3, 2}, {7, 5}, {1, 3}} {
		for procs := 1; procs < 100; procs++ {
			tree := mustMake(t, optimal(c.latency, c.overhead), procs, Interleaved)
			last := 0
			coloured := make([]int, procs)
			for p := range procs {
				for i, child := range tree.AppendChildren(nil, p) {
					coloured[child] = coloured[p] + i*c.overhead + 2*c.overhead + c.latency
					last = max(last, coloured[child])
				}
			}
			if want := greedy(procs, c.latency, c.overhead); last != want {
				t.Fatalf("optimal(%d,%d), %d processes: coloured at %d, could be at %d", c.latency, c.overhead, procs, last, want)
			}
		}
	}
}

// greedy is when the last of so many processes has the message if every process sends all the
// time.
func greedy(procs, latency, overhead int) int {
	free := []int{0} // when each process sends next
	for last := 0; ; {
		if len(free) >= procs {
			return last
		}
		first := 0
		for p := range free {
			if free[p] < free[first] {
				first = p
			}
		}
		last = free[first] + 2*overhead + latency
		free[first] += overhead
		free = append(free, last)
	}
}
