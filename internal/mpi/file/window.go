package file

// An aggregator's work on one window: all members' pieces, which ascend, in one order.

// direct is the length from which on a run is written from where it lies: a copy that makes one
// write of several takes longer than the writes.
const direct = 128 << 10

// writeWindow writes the pieces of a window. Runs that touch are written at once. Bytes that
// nobody gives aren't touched. Where runs overlap, those that begin later are written later.
func (e *exchange) writeWindow(pieces []piece) {
	w := writer{e: e}
	heap := make([]cursor, 0, len(pieces))
	for i := range pieces {
		heap = append(heap, pieces[i].cursor())
		for k := len(heap) - 1; k > 0 && heap[k].off() < heap[(k-1)/2].off(); k = (k - 1) / 2 {
			heap[k], heap[(k-1)/2] = heap[(k-1)/2], heap[k]
		}
	}
	for len(heap) > 0 {
		w.put(heap[0].next())
		if !heap[0].left() {
			last := len(heap) - 1
			heap[0] = heap[last]
			heap = heap[:last]
		}
		sink(heap)
	}
	w.flush()
}

// sink restores the order of a heap whose first cursor has moved on.
func sink(heap []cursor) {
	for k := 0; ; {
		c := 2*k + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && heap[c+1].off() < heap[c].off() {
			c++
		}
		if heap[k].off() <= heap[c].off() {
			return
		}
		heap[k], heap[c] = heap[c], heap[k]
		k = c
	}
}

// writer joins runs of a window in the assembly buffer, which has room for all of it.
type writer struct {
	e     *exchange
	start int64
	n     int64
}

func (w *writer) put(off int64, data []byte) {
	size := int64(len(data))
	if off > w.start+w.n || size >= direct {
		w.flush()
	}
	if size >= direct {
		w.write(off, data)
		return
	}
	if w.n == 0 {
		w.start = off
	}
	copy(w.e.assembly[off-w.start:], data)
	w.n = max(w.n, off-w.start+size)
}

func (w *writer) flush() {
	if w.n > 0 {
		w.write(w.start, w.e.assembly[:w.n])
		w.n = 0
	}
}

// write writes, unless a write has failed before.
func (w *writer) write(off int64, data []byte) {
	if w.e.failed != 0 {
		return
	}
	if _, err := w.e.f.f.WriteAt(data, off); err != nil {
		w.e.failed = number(err)
	}
}

// readWindow reads the pieces of a window: in one go if they are small and dense, else each by
// itself.
func (e *exchange) readWindow(pieces []piece) {
	first, end, useful, runs := pieces[0].runs[0].Off+pieces[0].into, int64(0), int64(0), int64(0)
	for i := range pieces {
		pieces[i].each(func(off int64, data []byte) {
			size := int64(len(data))
			first, end = min(first, off), max(end, off+size)
			useful += size
			runs++
		})
	}
	if useful/runs >= direct || useful*dense < end-first || e.failed != 0 {
		for i := range pieces {
			e.readPiece(&pieces[i])
		}
		return
	}
	whole := e.assembly[:end-first]
	n, err := e.f.readAt(whole, first)
	if err != nil {
		e.failed = number(err)
	} else if n < int64(len(whole)) {
		e.eof = min(e.eof, first+n)
	}
	clear(whole[n:])
	for i := range pieces {
		pieces[i].each(func(off int64, data []byte) { copy(data, whole[off-first:]) })
	}
}

// readPiece reads the runs of one piece. What the file doesn't have becomes zero.
func (e *exchange) readPiece(p *piece) {
	var runs []Run
	p.each(func(off int64, data []byte) { runs = add(runs, off, int64(len(data))) })
	n := int64(0)
	if e.failed == 0 {
		var err error
		if n, err = e.f.disk.read(runs, p.data); err != nil {
			e.failed = number(err)
		} else if n < int64(len(p.data)) {
			e.eof = min(e.eof, at(runs, n))
		}
	}
	clear(p.data[n:])
}

// at is the place of byte n of runs.
func at(runs []Run, n int64) int64 {
	for _, r := range runs {
		if n < r.Len {
			return r.Off + n
		}
		n -= r.Len
	}
	return runs[len(runs)-1].End()
}
