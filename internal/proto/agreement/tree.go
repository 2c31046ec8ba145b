package agreement

import (
	"slices"

	"banyan/internal/topology"
)

// position is where a member is in the tree of the living. That is the tree of all members, in
// which a member whose parent is gone belongs to its nearest ancestor that isn't, and, if there is
// none, to the root: the lowest member that isn't gone.
type position struct {
	root, parent int32   // the parent of the root is -1
	children     []int32 // ascending
	index        []int32 // by member: which child it is, or -1
	gap          Set     // those gone of which this member is the nearest ancestor
}

// arrange computes the position of a member among those that aren't gone.
func (p *position) arrange(t *topology.Tree, self int, gone Set) {
	n := t.Procs()
	if p.index == nil {
		p.index = make([]int32, n)
		for i := range p.index {
			p.index[i] = -1
		}
	}
	for _, c := range p.children {
		p.index[c] = -1
	}
	p.children, p.gap, p.root = p.children[:0], nil, 0
	if gone.Empty() {
		p.parent = int32(t.Parent(self))
		c := t.Children(self)
		for child, ok := t.Next(&c); ok; child, ok = t.Next(&c) {
			p.children = append(p.children, int32(child))
		}
		slices.Sort(p.children)
	} else {
		for gone.Has(int(p.root)) {
			p.root++
		}
		p.parent = p.above(t, self, gone)
		gap := make(Set, (n+63)/64)
		for m := range n {
			if m == self || p.above(t, m, gone) != int32(self) {
				continue
			}
			if gone.Has(m) {
				gap[m>>6] |= 1 << (m & 63)
			} else {
				p.children = append(p.children, int32(m))
			}
		}
		p.gap = gap.trim()
	}
	for i, c := range p.children {
		p.index[c] = int32(i)
	}
}

// above is a member's nearest ancestor that isn't gone, or else the root; -1 for the root itself.
func (p *position) above(t *topology.Tree, m int, gone Set) int32 {
	if m == int(p.root) {
		return -1
	}
	for m = t.Parent(m); m >= 0; m = t.Parent(m) {
		if !gone.Has(m) {
			return int32(m)
		}
	}
	return p.root
}
