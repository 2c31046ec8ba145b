package binding

import (
	"cmp"
	"slices"
	"unsafe"
)

// What a collective sends and what it receives must lie apart, except for MPI_IN_PLACE. If it
// doesn't, ranks would overwrite what they have yet to send, and send other data with each
// algorithm.

// reach is from the first byte to behind the last one of what a collective sends, or receives,
// in the program's memory. Of data that isn't contiguous only the first byte counts: the rest
// may lie between other data.
type reach struct {
	from, to uintptr
	list     int // 1 more than the number of its list of blocks (collective.blocks); 0: it is one block
}

func (r reach) meets(s reach) bool { return r.from < s.to && s.from < r.to }

// reaches notes memory of the program that is sent (outwards) or received (inwards).
func (k *collective) reaches(way int, b []byte) {
	if way == 0 || len(b) == 0 {
		return
	}
	r := &k.reach[way&inwards/inwards]
	from := uintptr(unsafe.Pointer(&b[0]))
	to := from + uintptr(len(b))
	if r.to == 0 {
		r.from, r.to = from, to
		return
	}
	r.from, r.to = min(r.from, from), max(r.to, to)
}

// apart says that all arguments were right, and that what is sent and received doesn't overlap.
func (k *collective) apart() bool {
	if k.good() && k.reach[0].meets(k.reach[1]) && k.collide() {
		k.fail(ErrBuffer, "the buffers to send and to receive overlap, at %#x", max(k.reach[0].from, k.reach[1].from))
	}
	return k.good()
}

// collide tells whether a block that is sent and one that is received overlap, if their reaches
// do.
func (k *collective) collide() bool {
	if k.reach[0].list|k.reach[1].list == 0 {
		return true
	}
	var pieces []piece
	for way, r := range k.reach {
		if r.list == 0 {
			pieces = append(pieces, piece{r.from, r.to, way})
			continue
		}
		for _, b := range k.blocks[r.list-1] {
			if len(b) > 0 {
				from := uintptr(unsafe.Pointer(&b[0]))
				pieces = append(pieces, piece{from, from + uintptr(len(b)), way})
			}
		}
	}
	return overlap(pieces)
}

// piece is memory of a way: 0 is sent, 1 received.
type piece struct {
	from, to uintptr
	way      int
}

// overlap tells whether pieces of different ways overlap.
func overlap(pieces []piece) bool {
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	var end [2]uintptr
	for _, p := range pieces {
		if p.from < end[1-p.way] {
			return true
		}
		end[p.way] = max(end[p.way], p.to)
	}
	return false
}

// distance is how far two addresses are from each other.
func distance(a, b unsafe.Pointer) uintptr {
	return max(uintptr(a), uintptr(b)) - min(uintptr(a), uintptr(b))
}
