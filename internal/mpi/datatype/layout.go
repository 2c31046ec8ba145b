package datatype

import "sort"

// node is a piece of a type map: the positions of its bytes, relative to an origin of its own,
// in the order of packing. Nodes never change, and trees share them.
type node struct {
	form form
	kind Kind  // of a run: its bytes' kind; Mixed once kinds are forgotten
	size int64 // bytes packed

	count, stride int64 // of a loop: the number of children, and their distance
	child         *node

	items []item  // of a list, in order; the first is at 0
	flat  bool    // of a list: all items are runs
	width int64   // of such a list: the runs' common size, or 0
	disps []int64 // if width isn't 0: the items' displacements
}

// form is the structure of a node.
type form uint8

const (
	run  form = iota // size bytes in a row, from 0
	loop             // count times child, at 0, stride, 2·stride …
	list             // items
)

// item is a node in a list.
type item struct {
	disp int64 // from the list's origin
	from int64 // packed bytes of the items before
	size int64 // node.size
	node *node
}

// placed is a node at a displacement. No node means no bytes.
type placed struct {
	disp int64
	node *node
}

// spliced is the largest number of items of a list that join copies into the list around it.
// With more, trees could be larger than the program's description.
const spliced = 32

// runOf is size bytes of one kind.
func runOf(k Kind, size int64) placed {
	if size == 0 {
		return placed{}
	}
	return placed{node: &node{form: run, kind: k, size: size}}
}

// repeatNode is count times child, each stride after the one before. It is a run, or one loop
// over child or over child's own child. count isn't 0.
func repeatNode(count, stride int64, child *node) node {
	switch {
	case count == 1:
		return *child
	case child.form == run && child.size == stride:
		return node{form: run, kind: child.kind, size: count * stride}
	case child.form == loop && child.count*child.stride == stride:
		return node{form: loop, size: count * child.size, count: count * child.count, stride: child.stride, child: child.child}
	}
	return node{form: loop, size: count * child.size, count: count, stride: stride, child: child}
}

// repeat is count times p, each stride after the one before.
func repeat(count, stride int64, p placed) placed {
	switch {
	case count == 0 || p.node == nil:
		return placed{}
	case count == 1:
		return p
	}
	n := repeatNode(count, stride, p.node)
	return placed{p.disp, &n}
}

// join is the parts one after another. With forget, adjacent runs of different kinds become
// one.
func join(ps []placed, forget bool) placed {
	items := make([]item, 0, len(ps))
	for _, p := range ps {
		switch {
		case p.node == nil:
		case forget && p.node.form == run && p.node.kind != Mixed:
			items = add(items, p.disp, &node{form: run, size: p.node.size}, forget)
		case p.node.form == list && len(p.node.items) <= spliced:
			for _, it := range p.node.items {
				items = add(items, p.disp+it.disp, it.node, forget)
			}
		default:
			items = add(items, p.disp, p.node, forget)
		}
	}
	if len(items) == 0 {
		return placed{}
	}
	origin := items[0].disp
	if len(items) == 1 {
		return placed{origin, items[0].node}
	}
	if stride, ok := regular(items); ok {
		return repeat(int64(len(items)), stride, placed{origin, items[0].node})
	}
	n := &node{form: list, items: items, flat: true, width: items[0].node.size}
	for i := range items {
		it := &items[i]
		it.disp -= origin
		it.size = it.node.size
		it.from = n.size
		n.size += it.size
		n.flat = n.flat && it.node.form == run
		if it.size != n.width {
			n.width = 0
		}
	}
	if !n.flat {
		n.width = 0
	}
	if n.width != 0 {
		n.disps = make([]int64, len(items))
		for i := range items {
			n.disps[i] = items[i].disp
		}
	}
	return placed{origin, n}
}

// add appends a node to a list under construction, or lengthens its last run.
func add(items []item, disp int64, n *node, forget bool) []item {
	if k := len(items); k > 0 && n.form == run {
		last := &items[k-1]
		if l := last.node; l.form == run && last.disp+l.size == disp && (forget || l.kind == n.kind) {
			if last.size == 0 { // other trees may share the node; size marks this list's own
				last.node = &node{form: run, kind: l.kind}
				last.size = l.size
			}
			if l.kind != n.kind {
				last.node.kind = Mixed
			}
			last.size += n.size
			last.node.size = last.size
			return items
		}
	}
	return append(items, item{disp: disp, node: n})
}

// regular tells whether all items are the same node at equal distances, and the distance.
func regular(items []item) (stride int64, ok bool) {
	stride = items[1].disp - items[0].disp
	for i := 1; i < len(items); i++ {
		if items[i].disp-items[i-1].disp != stride || !same(items[i].node, items[0].node) {
			return 0, false
		}
	}
	return stride, true
}

// same tells whether two nodes are known to be equal.
func same(a, b *node) bool {
	return a == b || a.form == run && b.form == run && a.size == b.size && a.kind == b.kind
}

// find is the index of the item that holds packed byte at. at is less than n.size.
func (n *node) find(at int64) int {
	return sort.Search(len(n.items), func(i int) bool { return n.items[i].from > at }) - 1
}
