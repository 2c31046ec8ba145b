package replica

// window holds what is still open of a numbered sequence: values keyed by
// sequence number, pushed in ascending order, removed in any. Finding one is
// a binary search, everything else is amortised O(1). Removed entries stay
// in the ring until those before them have gone too, or until they are
// half of a full ring.
type window[T any] struct {
	ring []entry[T] // length a power of two, or none yet
	head int        // index of the first entry in ring
	size int        // entries, with removed ones between open ones
	open int        // entries that aren't removed
}

type entry[T any] struct {
	seq   uint64
	open  bool
	value T
}

// at is the i-th entry, which may be a removed one.
func (w *window[T]) at(i int) *entry[T] { return &w.ring[(w.head+i)&(len(w.ring)-1)] }

// push appends a value; seq must be above all pushed before.
func (w *window[T]) push(seq uint64, value T) {
	if w.size == len(w.ring) {
		w.makeRoom()
	}
	w.size++
	w.open++
	*w.at(w.size - 1) = entry[T]{seq, true, value}
}

// makeRoom squeezes removed entries out of a full ring if they are half of
// it, and doubles it otherwise.
func (w *window[T]) makeRoom() {
	if w.open <= len(w.ring)/2 {
		n := 0
		for i := range w.size {
			if e := w.at(i); e.open {
				*w.at(n) = *e
				n++
			}
		}
		w.size = n
	}
	if w.size == len(w.ring) {
		ring := make([]entry[T], max(4, 2*len(w.ring)))
		for i := range w.size {
			ring[i] = *w.at(i)
		}
		w.ring, w.head = ring, 0
	}
}

// from is the index of the first entry with a number of at least seq.
func (w *window[T]) from(seq uint64) int {
	low, high := 0, w.size
	if high > 0 && w.at(0).seq >= seq {
		return 0
	}
	for low < high {
		if middle := int(uint(low+high) >> 1); w.at(middle).seq < seq {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// find is the open entry with the number seq, or nil.
func (w *window[T]) find(seq uint64) *entry[T] {
	if i := w.from(seq); i < w.size {
		if e := w.at(i); e.open && e.seq == seq {
			return e
		}
	}
	return nil
}

// remove takes an open entry out. Indexes stay valid until trim.
func (w *window[T]) remove(e *entry[T]) {
	var none T
	e.open, e.value = false, none
	w.open--
}

// trim drops removed entries from the front.
func (w *window[T]) trim() {
	for w.size > 0 && !w.at(0).open {
		w.head = (w.head + 1) & (len(w.ring) - 1)
		w.size--
	}
}
