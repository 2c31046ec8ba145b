package topology

import "fmt"

// KAry returns the tree in which every process has up to k ≥ 1 children, filled level
// by level (interleaved) or depth first (in order; its height is the same). With
// k = 1 it is a chain.
func KAry(procs, k int, n Numbering) (Tree, error) {
	if err := checkProcs(procs); err != nil {
		return Tree{}, err
	}
	if k < 1 {
		return Tree{}, fmt.Errorf("a k-ary tree with k = %d: want at least 1", k)
	}
	// More children than there are processes make no difference.
	return Tree{procs: int32(procs), arity: int32(min(k, procs)), numbering: n}, nil
}

// A k-ary cursor: at is the next child, by the distance between siblings, to the
// last child (beyond the tree's end perhaps).

// karyChildren: in the interleaved tree the process j of level l has the
// children r + i·k^l, 0 < i ≤ k (the paper prints i < k). In order, a child's
// subtree is one run of positions, and so siblings are a subtree's size apart.
func (t *Tree) karyChildren(r int32) Cursor {
	k := int64(t.arity)
	if k == 1 {
		return Cursor{at: r + 1, by: 1, to: r + 1}
	}
	if t.numbering == InOrder {
		_, size := t.karyDescend(r)
		if size == 1 {
			return Cursor{at: t.procs, by: 1, to: t.procs} // a leaf
		}
		size = (size - 1) / k
		return clip(int64(r)+1, size, int64(r)+1+(k-1)*size)
	}
	width := t.karyWidth(r)
	if width >= int64(t.procs) {
		return Cursor{at: t.procs, by: 1, to: t.procs}
	}
	return clip(int64(r)+width, width, int64(r)+k*width)
}

// karyWidth is the number of processes in the level of r, k^l.
func (t *Tree) karyWidth(r int32) int64 {
	k := int64(t.arity)
	width := int64(1)
	for first := int64(0); first+width <= int64(r); width *= k {
		first += width
	}
	return width
}

// clip makes a cursor of numbers that may be beyond every tree's end.
func clip(at, by, to int64) Cursor {
	const beyond = MaxProcs
	return Cursor{at: int32(min(at, beyond)), by: int32(min(by, beyond)), to: int32(min(to, beyond))}
}

func (t *Tree) karyNext(c *Cursor) (int32, bool) {
	child := c.at
	if child > c.to || child >= t.procs {
		return 0, false
	}
	c.at = int32(min(int64(child)+int64(c.by), MaxProcs))
	return child, true
}

func (t *Tree) karyParent(r int32) int32 {
	k := int64(t.arity)
	if k == 1 {
		return r - 1
	}
	if t.numbering == InOrder {
		parent, _ := t.karyDescend(r)
		return parent
	}
	width := t.karyWidth(r) // of r's level; the level starts at (width-1)/(k-1)
	above := width / k
	j := int64(r) - (width-1)/(k-1)
	return int32((above-1)/(k-1) + j%above)
}

// karyDescend walks from the root of the in-order tree to r. It returns r's
// parent (-1 for the root) and the size of r's subtree in the full tree.
func (t *Tree) karyDescend(r int32) (parent int32, size int64) {
	k := int64(t.arity)
	size = 1
	for size < int64(t.procs) {
		size = size*k + 1
	}
	parent = -1
	for at := int32(0); at != r; {
		parent = at
		size = (size - 1) / k
		at += 1 + int32(int64(r-at-1)/size*size)
	}
	return parent, size
}
