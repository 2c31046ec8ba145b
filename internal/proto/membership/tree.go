package membership

// tree is the radix tree over the members of a view that aren't skipped: the
// i-th of them has the children a·i+1 to a·i+a. With a = 2^b the digits of i
// to the base a are the way from the root to it, which makes everything here
// arithmetic on positions; nothing is stored.
type tree struct {
	view    *View
	skipped []int32 // positions in view, ascending
	arity   int
}

// handsDown says whether an order of a coordinator comes to an index from that process: from the
// parent in a tree whose root is the coordinator, or to the root from the coordinator itself.
func (t *tree) handsDown(from, coordinator Member, index int) bool {
	switch {
	case index < 0 || t.member(0) != coordinator:
		return false
	case index == 0:
		return from == coordinator
	}
	return from == t.member(t.parent(index))
}

// size is how many members are in the tree.
func (t *tree) size() int { return len(t.view.Members) - len(t.skipped) }

// member is the member at an index of the tree.
func (t *tree) member(index int) Member {
	position := index
	for _, s := range t.skipped {
		if int(s) > position {
			break
		}
		position++
	}
	return t.view.Members[position]
}

// index is a member's index in the tree, or -1.
func (t *tree) index(m Member) int {
	position := t.view.Position(m)
	if position < 0 {
		return -1
	}
	index := position
	for _, s := range t.skipped {
		switch {
		case int(s) == position:
			return -1
		case int(s) < position:
			index--
		}
	}
	return index
}

// children is the range of the indexes of an index's children.
func (t *tree) children(index int) (first, end int) {
	return min(t.arity*index+1, t.size()), min(t.arity*(index+1)+1, t.size())
}

// parent is the index of an index's parent; the root has none.
func (t *tree) parent(index int) int { return (index - 1) / t.arity }
