package datatype

// Count is the number of instances of t in bytes of data, and false if that isn't a whole
// number: MPI_Get_count.
func (t *Type) Count(bytes int64) (int64, bool) {
	if t.size == 0 {
		return 0, bytes == 0
	}
	return bytes / t.size, bytes%t.size == 0
}

// ElementsIn is the number of elements in bytes of data that fill instances of t one after
// another, and false if the last element is incomplete: MPI_Get_elements.
func (t *Type) ElementsIn(bytes int64) (int64, bool) {
	if t.size == 0 {
		return 0, bytes == 0
	}
	elements := bytes / t.size * t.elements
	n := t.typed.node
	for bytes %= t.size; bytes > 0; {
		switch n.form {
		case run:
			each := n.kind.Size()
			return elements + bytes/each, bytes%each == 0
		case loop:
			elements += bytes / n.child.size * n.child.elements()
			bytes %= n.child.size
			n = n.child
		case list:
			i := n.find(bytes)
			for _, it := range n.items[:i] {
				elements += it.node.elements()
			}
			bytes -= n.items[i].from
			n = n.items[i].node
		}
	}
	return elements, true
}

// BytesOf is the number of bytes of the first elements of instances of t, one after another:
// the converse of ElementsIn. It is false if that is too large for a number: a status may have
// counts that no memory holds.
func (t *Type) BytesOf(elements int64) (int64, bool) {
	if t.elements == 0 {
		return 0, elements == 0
	}
	a := arith{wide: true}
	bytes := a.mul(elements/t.elements, t.size)
	n := t.typed.node
	for elements %= t.elements; elements > 0; {
		switch n.form {
		case run:
			return a.add(bytes, elements*n.kind.Size()), !a.over
		case loop:
			each := n.child.elements()
			bytes = a.add(bytes, elements/each*n.child.size)
			elements %= each
			n = n.child
		case list:
			i := 0
			for ; elements >= n.items[i].node.elements(); i++ {
				elements -= n.items[i].node.elements()
				bytes = a.add(bytes, n.items[i].size)
			}
			n = n.items[i].node
		}
	}
	return bytes, !a.over
}

// elements is the number of elements of a node. It walks the tree, but is only needed if a
// message ends within an instance.
func (n *node) elements() (sum int64) {
	switch n.form {
	case run:
		return n.size / n.kind.Size()
	case loop:
		return n.count * n.child.elements()
	}
	for i := range n.items {
		sum += n.items[i].node.elements()
	}
	return sum
}

// Bytes is the number of bytes of data in count instances. It is false if that number, or the
// memory that they span, is too large.
func (t *Type) Bytes(count int64) (int64, bool) {
	if count == 1 {
		return t.size, true
	}
	var a arith
	n := a.mul(t.size, count)
	a.mul(t.ub-t.lb, count)
	return n, !a.over
}

// ExternalBytes is the number of bytes of count instances in external32, and false if that is
// too large.
func (t *Type) ExternalBytes(count int64) (int64, bool) {
	var a arith
	n := a.mul(t.external, count)
	return n, !a.over
}
