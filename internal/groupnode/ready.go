package groupnode

import (
	"slices"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// readyAfter is how long after a view a member makes the connections that the next change needs.
// By then the view has spread, unless the group is very large, and the processors are idle.
const readyAfter = 50 * time.Millisecond

// getReady connects with the members that would be this member's parent or children in the tree
// if none or any one of the others were gone, and with the one that would become a witness.
// Handshakes take several times as long as the change itself.
func (m *Member) getReady() {
	m.readyAt = proto.Never
	v := m.machine.View()
	m.introduce(v, m.witnesses(v, 1))
	var near []membership.Member
	for _, p := range neighbours(slices.Index(v.Members, m.self), len(v.Members), m.cfg.Arity) {
		near = append(near, v.Members[p])
	}
	m.introduce(v, near)
}

// neighbours are the positions, in a view of n members, that may be next to a position in the
// tree after at most one death. A death moves all members behind the dead one up by one position:
// so there are up to two parents and 2·arity children.
func neighbours(position, n, arity int) []int {
	var list []int
	add := func(from, to int) {
		for p := max(from, 0); p <= min(to, n-1); p++ {
			if p != position {
				list = append(list, p)
			}
		}
	}
	if position > 0 {
		parent := (position - 1) / arity
		if moved := position - 2; moved >= 0 { // one in front may be gone
			parent = moved / arity
			add(parent, parent+1)
		} else {
			add(parent, parent)
		}
	}
	// The list begins with the first child after a move up, and ends with the last child that a
	// move brings. The first position doesn't move up: its children begin one later.
	first := arity*position + 1
	if position > 0 {
		first -= arity - 1
	}
	add(max(first, position+1), arity*position+arity+1)
	return list
}
