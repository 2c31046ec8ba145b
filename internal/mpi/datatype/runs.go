package datatype

// Runs shows the runs of bytes of one instance in the order of packing, those that touch as one,
// with their displacement from the program's address. It tells whether visit has accepted all: it
// returns false to see no more.
func (t *Type) Runs(visit func(disp, size int64) bool) bool {
	if t.bytes.node == nil {
		return true
	}
	var disp, size int64
	ok := t.bytes.node.each(t.bytes.disp, func(d, n int64) bool {
		if size > 0 && d == disp+size {
			size += n
			return true
		}
		if size > 0 && !visit(disp, size) {
			return false
		}
		disp, size = d, n
		return true
	})
	return ok && visit(disp, size)
}

// each shows the runs of a node at a displacement.
func (n *node) each(at int64, visit func(disp, size int64) bool) bool {
	switch n.form {
	case run:
		return visit(at, n.size)
	case loop:
		for range n.count {
			if !n.child.each(at, visit) {
				return false
			}
			at += n.stride
		}
	case list:
		for i := range n.items {
			if it := &n.items[i]; !it.node.each(at+it.disp, visit) {
				return false
			}
		}
	}
	return true
}
