package correctedtrees

import (
	"math/bits"

	"banyan/internal/topology"
)

// reach finds the processes that overlapped opportunistic correction leaves uncoloured, without
// playing the broadcast.
//
// Every live process that is coloured, by any message, sends to all its children and sooner or
// later to all within the distance on the ring; with skip-ahead and ordered correction, except
// those to which another sends. So the coloured processes don't depend on time: they are those that
// can be reached from the root over live processes, along the tree and along steps of at most the
// distance. TestReach compares this with the engine. Optimised correction, as printed, leaves out
// some that no process sends to: the engine must say which.
type reach struct {
	procs  int
	parent []int32
	// A subtree is one run of preorder: size[p] processes from index[p] on.
	preorder, index, size []int32
	// A bit for each process, from the second word on: so that steps on the ring are shifts of
	// words. The bits before and after stand for the processes at the ring's other end.
	coloured, live []uint64
}

func newReach(t *topology.Tree) *reach {
	n := t.Procs()
	r := &reach{
		procs: n, parent: make([]int32, n), preorder: make([]int32, n), index: make([]int32, n), size: make([]int32, n),
		coloured: make([]uint64, n/64+3), live: make([]uint64, n/64+3),
	}
	for p := range r.parent {
		r.parent[p] = int32(t.Parent(p))
		r.size[p] = 1
	}
	for p := n - 1; p > 0; p-- { // parents come before their children
		r.size[r.parent[p]] += r.size[p]
	}
	next := make([]int32, n) // where the next child of each process goes
	for p := range r.parent {
		if p > 0 {
			parent := r.parent[p]
			r.index[p] = next[parent]
			next[parent] += r.size[p]
		}
		r.preorder[r.index[p]] = int32(p)
		next[p] = r.index[p] + 1
	}
	return r
}

// unreached appends to counts how many live processes each distance leaves
// uncoloured. Distances ascend, to 63 at most.
func (r *reach) unreached(counts []int, failed []int, distances []int) []int {
	for i := range r.live {
		r.live[i] = ^uint64(0)
	}
	copy(r.coloured, r.live)
	for _, f := range failed {
		if bit(r.coloured, f) {
			for _, p := range r.preorder[r.index[f]:][:r.size[f]] {
				unset(r.coloured, int(p))
			}
		}
		unset(r.live, f)
	}
	for _, d := range distances {
		left := r.spread(d)
		for r.alongTree() {
			left = r.spread(d)
		}
		counts = append(counts, left)
	}
	return counts
}

// spread colours what can be reached along the ring, and returns how many live processes are left.
func (r *reach) spread(distance int) int {
	for {
		for i := 1; i <= distance; i++ {
			set(r.coloured, -i, bit(r.coloured, r.procs-1-(i-1)%r.procs))
			set(r.coloured, r.procs+i-1, bit(r.coloured, (i-1)%r.procs))
		}
		left, changed := 0, false
		for w := 1; w <= (r.procs+63)/64; w++ {
			missing := r.live[w] &^ r.coloured[w]
			if w > r.procs/64 {
				missing &= 1<<(r.procs%64) - 1
			}
			if missing == 0 {
				continue
			}
			before, here, after := r.coloured[w-1], r.coloured[w], r.coloured[w+1]
			near := uint64(0)
			for i := 1; i <= distance; i++ {
				near |= here<<i | before>>(64-i) | here>>i | after<<(64-i)
			}
			if reached := missing & near; reached != 0 {
				r.coloured[w] |= reached
				changed = true
			}
			left += bits.OnesCount64(missing &^ near)
		}
		if !changed {
			return left
		}
	}
}

// alongTree colours the children of coloured processes, and says whether there was one.
func (r *reach) alongTree() (changed bool) {
	for w := 1; w <= (r.procs+63)/64; w++ {
		for missing := r.live[w] &^ r.coloured[w]; missing != 0; missing &= missing - 1 {
			p := (w-1)*64 + bits.TrailingZeros64(missing)
			if p < r.procs && bit(r.coloured, int(r.parent[p])) {
				set(r.coloured, p, true)
				changed = true
			}
		}
	}
	return changed
}

// bit, set and unset are of a process among bits from the second word on.
func bit(of []uint64, p int) bool { return of[(p+64)/64]>>((p+64)%64)&1 != 0 }

func unset(of []uint64, p int) { of[(p+64)/64] &^= 1 << ((p + 64) % 64) }

func set(of []uint64, p int, to bool) {
	unset(of, p)
	if to {
		of[(p+64)/64] |= 1 << ((p + 64) % 64)
	}
}
