package datatype

// Represented is the type as it lies in a file whose elements have other sizes than in memory.
// basic gives each predefined type's form there. What a constructor measured in extents is
// measured in those of the file; displacements in bytes stay.
func (t *Type) Represented(basic func(*Type) (*Type, error)) (*Type, error) {
	m := &t.made
	if len(m.Types) == 0 || m.Combiner == CombinerValueIndex {
		return basic(t)
	}
	types := make([]*Type, len(m.Types))
	for i, old := range m.Types {
		if i > 0 && old == m.Types[i-1] {
			types[i] = types[i-1]
			continue
		}
		var err error
		if types[i], err = old.Represented(basic); err != nil {
			return nil, err
		}
	}
	old, a := types[0], m.args
	switch m.Combiner {
	case CombinerContiguous:
		return Contiguous(a[0], old)
	case CombinerVector:
		return Vector(a[0], a[1], a[2], old)
	case CombinerHvector:
		return Hvector(a[0], a[1], a[2], old)
	case CombinerIndexed:
		return Indexed(a[1:1+a[0]], a[1+a[0]:], old)
	case CombinerHindexed:
		return Hindexed(a[1:1+a[0]], a[1+a[0]:], old)
	case CombinerIndexedBlock:
		return IndexedBlock(a[1], a[2:], old)
	case CombinerHindexedBlock:
		return HindexedBlock(a[1], a[2:], old)
	case CombinerStruct:
		return Struct(a[1:1+a[0]], a[1+a[0]:], types)
	case CombinerSubarray:
		n := a[0]
		return Subarray(a[1:1+n], a[1+n:1+2*n], a[1+2*n:1+3*n], Order(a[1+3*n]), old)
	case CombinerDarray:
		return Darray(gridOf(a), old)
	case CombinerResized:
		return Resized(old, a[0], a[1])
	}
	return old, nil // a duplicate
}

// gridOf is the grid of a Darray's arguments.
func gridOf(a []int64) Grid {
	n := a[2]
	g := Grid{Size: a[0], Rank: a[1], Sizes: a[3 : 3+n], Order: Order(a[3+4*n])}
	for _, d := range a[3+n : 3+2*n] {
		g.Distributions = append(g.Distributions, Distribution(d))
	}
	g.Arguments, g.Processes = a[3+2*n:3+3*n], a[3+3*n:3+4*n]
	return g
}

// Opaque is count bytes in a row, with that extent.
func Opaque(count int64) (*Type, error) { return Contiguous(count, Predefined(handleByte)) }

const handleByte = 0x247

// InExternal is the type as it lies in a file in external32. A type without kinds that are smaller
// there stays as it is, with its padding.
func (t *Type) InExternal() (*Type, error) {
	if t.typed.node == nil || !t.typed.node.narrows() {
		return t, nil
	}
	return t.Represented(func(b *Type) (*Type, error) { return Opaque(b.external) })
}

// narrows tells whether a kind has another size in external32 than in memory.
func (n *node) narrows() bool {
	switch n.form {
	case loop:
		return n.child.narrows()
	case list:
		for i := range n.items {
			if n.items[i].node.narrows() {
				return true
			}
		}
		return false
	}
	return traits[n.kind].external != traits[n.kind].size
}

// NativeBytes is how many bytes of instances of t, one after another, have all their elements
// within the first bytes of their external32.
func (t *Type) NativeBytes(external int64) int64 {
	if t.external == 0 {
		return 0
	}
	whole := external / t.external
	_, native := t.typed.node.native(external % t.external)
	return whole*t.size + native
}

// native is how many bytes of external32 are left behind a node, and how many bytes of the node
// they stand for.
func (n *node) native(external int64) (rest, bytes int64) {
	switch n.form {
	case run:
		tr := &traits[n.kind]
		fit := min(n.size/tr.size, external/tr.external)
		if fit < n.size/tr.size {
			return 0, fit * tr.size
		}
		return external - fit*tr.external, n.size
	case loop:
		for range n.count {
			if external == 0 {
				break
			}
			var b int64
			external, b = n.child.native(external)
			bytes += b
		}
		return external, bytes
	}
	for i := range n.items {
		if external == 0 {
			break
		}
		var b int64
		external, b = n.items[i].node.native(external)
		bytes += b
	}
	return external, bytes
}
