package datatype

// RunsFrom is Runs from packed byte skip of the instance on. Runs that touch aren't joined.
func (t *Type) RunsFrom(skip int64, visit func(disp, size int64) bool) bool {
	if t.bytes.node == nil || skip >= t.size {
		return true
	}
	return t.bytes.node.from(t.bytes.disp, skip, visit)
}

// from shows the runs of a node at a displacement from packed byte skip on.
func (n *node) from(at, skip int64, visit func(disp, size int64) bool) bool {
	if skip == 0 {
		return n.each(at, visit)
	}
	switch n.form {
	case run:
		return visit(at+skip, n.size-skip)
	case loop:
		i := skip / n.child.size
		at += i * n.stride
		if !n.child.from(at, skip%n.child.size, visit) {
			return false
		}
		for i++; i < n.count; i++ {
			if at += n.stride; !n.child.each(at, visit) {
				return false
			}
		}
	case list:
		i := n.find(skip)
		if it := &n.items[i]; !it.node.from(at+it.disp, skip-it.from, visit) {
			return false
		}
		for i++; i < len(n.items); i++ {
			if it := &n.items[i]; !it.node.each(at+it.disp, visit) {
				return false
			}
		}
	}
	return true
}

// Position is the displacement of packed byte skip, which is less than the size.
func (t *Type) Position(skip int64) (disp int64) {
	t.RunsFrom(skip, func(d, _ int64) bool {
		disp = d
		return false
	})
	return disp
}

// Ascends tells whether each byte of an instance lies behind all bytes that are packed before it.
// So no two are in one place.
func (t *Type) Ascends() bool {
	if t.bytes.node == nil {
		return true
	}
	_, ok := t.bytes.node.ascends()
	return ok
}

// ascends also tells where a node ends that begins at 0.
func (n *node) ascends() (end int64, ok bool) {
	switch n.form {
	case loop:
		end, ok = n.child.ascends()
		return end + (n.count-1)*n.stride, ok && n.stride >= end
	case list:
		for i := range n.items {
			it := &n.items[i]
			if i > 0 && it.disp < end {
				return 0, false
			}
			e, ok := it.node.ascends()
			if !ok {
				return 0, false
			}
			end = it.disp + e
		}
		return end, true
	}
	return n.size, true
}
