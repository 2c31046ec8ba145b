package datatype

import (
	"errors"

	"banyan/internal/varint"
)

// A type is described to another process by its nodes: a list in which each node names only nodes
// before it. So the description is no longer than the tree in memory, which shares nodes, and what
// it describes is as small there. Only bytes are described: kinds stay behind.

// ErrDescription says that bytes describe no type.
var ErrDescription = errors.New("no description of a datatype")

// deepest bounds how far nodes are nested in a description: they are walked by recursion.
const deepest = 1000

// AppendDescription appends what another process needs to find the bytes of instances.
func (t *Type) AppendDescription(b []byte) []byte {
	var nodes []*node
	numbers := map[*node]int{}
	var visit func(n *node)
	visit = func(n *node) {
		if _, known := numbers[n]; known {
			return
		}
		switch n.form {
		case loop:
			visit(n.child)
		case list:
			for i := range n.items {
				visit(n.items[i].node)
			}
		}
		numbers[n] = len(nodes)
		nodes = append(nodes, n)
	}
	if t.bytes.node != nil {
		visit(t.bytes.node)
	}
	b = varint.Append(b, uint64(len(nodes)), zigzag(t.lb), zigzag(t.ub), zigzag(t.bytes.disp))
	for _, n := range nodes {
		b = append(b, byte(n.form))
		switch n.form {
		case run:
			b = varint.Append(b, uint64(n.size))
		case loop:
			b = varint.Append(b, uint64(n.count), zigzag(n.stride), uint64(numbers[n.child]))
		case list:
			b = varint.Append(b, uint64(len(n.items)))
			for i := range n.items {
				b = varint.Append(b, zigzag(n.items[i].disp), uint64(numbers[n.items[i].node]))
			}
		}
	}
	return b
}

// bounded is a described node with the memory that it spans and its depth.
type bounded struct {
	node      *node
	low, high int64
	depth     int
}

// ReadDescription reads what AppendDescription has appended.
func ReadDescription(r *varint.Reader) (*Type, error) {
	var a arith
	n := r.Count()
	t := &Type{lb: a.in(unzigzag(r.Uint())), ub: a.in(unzigzag(r.Uint()))}
	disp := a.in(unzigzag(r.Uint()))
	a.add(t.ub, -t.lb)
	nodes := make([]bounded, 0, n)
	for range n {
		if r.Failed() || a.over {
			return nil, ErrDescription
		}
		b, ok := readNode(r, nodes, &a)
		if !ok {
			return nil, ErrDescription
		}
		nodes = append(nodes, b)
	}
	if r.Failed() || a.over {
		return nil, ErrDescription
	}
	t.align = 1
	if n > 0 {
		last := nodes[n-1]
		t.size = last.node.size
		t.bytes = placed{disp, last.node}
		t.trueLB, t.trueUB = a.add(last.low, disp), a.add(last.high, disp)
		t.elements, t.typed = t.size, t.bytes
		if a.over {
			return nil, ErrDescription
		}
	}
	return t, nil
}

func readNode(r *varint.Reader, before []bounded, a *arith) (b bounded, ok bool) {
	form := r.Take(1)
	if len(form) == 0 {
		return b, false
	}
	switch b.node = (&node{form: structure(form[0])}); b.node.form {
	case run:
		size := r.Uint()
		b.node.size, b.high = int64(size), int64(size)
		return b, size > 0 && size <= limit
	case loop:
		count, stride, child := r.Uint(), a.in(unzigzag(r.Uint())), r.Uint()
		if child >= uint64(len(before)) || count == 0 || count > limit {
			return b, false
		}
		c := before[child]
		b.node.count, b.node.stride, b.node.child = int64(count), stride, c.node
		b.node.size = a.mul(c.node.size, int64(count))
		last := a.mul(stride, int64(count)-1)
		b.low, b.high, b.depth = a.add(c.low, min(last, 0)), a.add(c.high, max(last, 0)), c.depth+1
		return b, b.depth < deepest
	case list:
		return readList(r, before, a, b)
	}
	return b, false
}

func readList(r *varint.Reader, before []bounded, a *arith, b bounded) (bounded, bool) {
	n, count := b.node, r.Count()
	if count == 0 {
		return b, false
	}
	n.items, n.flat = make([]item, count), true
	for i := range n.items {
		disp, child := a.in(unzigzag(r.Uint())), r.Uint()
		if r.Failed() || child >= uint64(len(before)) || a.over {
			return b, false
		}
		c := before[child]
		n.items[i] = item{disp: disp, from: n.size, size: c.node.size, node: c.node}
		n.size = a.add(n.size, c.node.size)
		low, high := a.add(c.low, disp), a.add(c.high, disp)
		if i == 0 {
			b.low, b.high, n.width = low, high, c.node.size
		}
		b.low, b.high, b.depth = min(b.low, low), max(b.high, high), max(b.depth, c.depth+1)
		n.flat = n.flat && c.node.form == run
		if c.node.size != n.width {
			n.width = 0
		}
	}
	if !n.flat {
		n.width = 0
	}
	if n.width != 0 {
		n.disps = make([]int64, count)
		for i := range n.items {
			n.disps[i] = n.items[i].disp
		}
	}
	return b, b.depth < deepest
}

// structure is form, for functions that have a variable of that name.
type structure = form

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
