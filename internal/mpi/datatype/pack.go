package datatype

import "unsafe"

// Pack copies data of count instances of t at buf to dst, in the order of the type map, from
// packed byte skip on, up to the end of the data or of dst. It returns the number of bytes.
//
// buf is the program's address. It is nil for MPI_BOTTOM: then displacements are addresses.
func (t *Type) Pack(dst []byte, buf unsafe.Pointer, count, skip int64) int {
	return t.move(dst, buf, count, skip, gather)
}

// Unpack copies src to the memory that Pack with the same skip would read. It returns the
// number of bytes that fit.
func (t *Type) Unpack(src []byte, buf unsafe.Pointer, count, skip int64) int {
	return t.move(src, buf, count, skip, scatter)
}

func (t *Type) move(msg []byte, buf unsafe.Pointer, count, skip int64, w way) int {
	if t.size == 0 || count == 0 {
		return 0
	}
	all := repeatNode(count, t.ub-t.lb, t.bytes.node)
	n := min(int64(len(msg)), all.size-skip)
	if n <= 0 {
		return 0
	}
	some(&all, buf, t.bytes.disp, unsafe.Pointer(&msg[0]), skip, n, w)
	return int(n)
}

// whole copies all of a node whose origin is off bytes from base. It computes only addresses of
// existing bytes, so that no pointer leaves the program's memory.
func whole(n *node, base unsafe.Pointer, off int64, msg unsafe.Pointer, w way) {
	switch n.form {
	case run:
		copyRun(unsafe.Add(base, off), msg, n.size, w)
	case loop:
		rounds(n, 0, n.count, base, off, msg, w)
	case list:
		listWhole(n, 0, len(n.items), base, off, msg, w)
	}
}

// rounds copies count rounds of a loop, from round i on.
func rounds(n *node, i, count int64, base unsafe.Pointer, off int64, msg unsafe.Pointer, w way) {
	if count == 0 {
		return
	}
	off += i * n.stride
	child := n.child
	if child.form == run {
		strided(base, off, n.stride, count, child.size, msg, w)
		return
	}
	if child.form == list && child.flat && count > 1 {
		columns(child, base, off, n.stride, count, msg, w)
		return
	}
	for at := int64(0); ; {
		whole(child, base, off, unsafe.Add(msg, at), w)
		if count--; count == 0 {
			return
		}
		off += n.stride
		at += child.size
	}
}

// listWhole copies items i up to j of a list.
func listWhole(n *node, i, j int, base unsafe.Pointer, off int64, msg unsafe.Pointer, w way) {
	if i >= j {
		return
	}
	if n.flat {
		scattered(n, i, j, base, off, msg, w)
		return
	}
	items := n.items[i:j]
	start := items[0].from
	for k := range items {
		it := &items[k]
		whole(it.node, base, off+it.disp, unsafe.Add(msg, it.from-start), w)
	}
}

// some copies packed bytes skip up to skip+size of a node.
func some(n *node, base unsafe.Pointer, off int64, msg unsafe.Pointer, skip, size int64, w way) {
	if size == n.size {
		whole(n, base, off, msg, w)
		return
	}
	switch n.form {
	case run:
		copyRun(unsafe.Add(base, off+skip), msg, size, w)
	case loop:
		someRounds(n, base, off, msg, skip, size, w)
	case list:
		someItems(n, base, off, msg, skip, size, w)
	}
}

// someRounds copies the end of one round, whole rounds, and the beginning of another.
func someRounds(n *node, base unsafe.Pointer, off int64, msg unsafe.Pointer, skip, size int64, w way) {
	each := n.child.size
	i, into := skip/each, skip%each
	if into != 0 {
		part := min(each-into, size)
		some(n.child, base, off+i*n.stride, msg, into, part, w)
		if size -= part; size == 0 {
			return
		}
		msg = unsafe.Add(msg, part)
		i++
	}
	full := size / each
	rounds(n, i, full, base, off, msg, w)
	if rest := size - full*each; rest != 0 {
		some(n.child, base, off+(i+full)*n.stride, unsafe.Add(msg, full*each), 0, rest, w)
	}
}

// someItems is someRounds for the items of a list.
func someItems(n *node, base unsafe.Pointer, off int64, msg unsafe.Pointer, skip, size int64, w way) {
	i := n.find(skip)
	if it := &n.items[i]; it.from != skip {
		part := min(it.from+it.size-skip, size)
		some(it.node, base, off+it.disp, msg, skip-it.from, part, w)
		if size -= part; size == 0 {
			return
		}
		msg = unsafe.Add(msg, part)
		i++
	}
	start := n.items[i].from
	end := len(n.items)
	if start+size < n.size {
		end = n.find(start + size)
	}
	listWhole(n, i, end, base, off, msg, w)
	if end < len(n.items) {
		it := &n.items[end]
		if rest := start + size - it.from; rest != 0 {
			some(it.node, base, off+it.disp, unsafe.Add(msg, it.from-start), 0, rest, w)
		}
	}
}
