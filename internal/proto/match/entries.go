package match

// entry is a posted receive or an unexpected message, or a free slot.
type entry struct {
	envelope Envelope
	stamp    uint64 // of a posted receive: its number among all posted
	links    [2]link
	token    uint32
	lane     int32
}

// link ties an entry into one list. 0 is none.
type link struct{ prev, next int32 }

// list is a doubly linked list of entries. The zero list is empty.
type list struct{ head, tail int32 }

// membership says which of an entry's two links a list goes by.
type membership int

const (
	// inLane: the posted or unexpected of a lane.
	inLane membership = iota
	// inAll: all unexpected messages of a context.
	inAll
)

// entries is a slab of entries. Slot 0 stays unused; free slots are linked by
// their first link.
type entries struct {
	slab     []entry
	freeHead int32
}

func (s *entries) at(i int32) *entry { return &s.slab[i] }

func (s *entries) next(i int32, by membership) int32 { return s.slab[i].links[by].next }

// add puts an entry into a free slot, or into a new one.
func (s *entries) add(e entry) int32 {
	if i := s.freeHead; i != 0 {
		s.freeHead = s.slab[i].links[0].next
		s.slab[i] = e
		return i
	}
	s.slab = append(s.slab, e)
	return int32(len(s.slab) - 1)
}

// free gives back the slot of an entry that is in no list.
func (s *entries) free(i int32) {
	s.slab[i].links[0].next = s.freeHead
	s.freeHead = i
}

// append puts an entry at the end of a list.
func (s *entries) append(l *list, i int32, by membership) {
	s.slab[i].links[by] = link{prev: l.tail}
	if l.tail == 0 {
		l.head = i
	} else {
		s.slab[l.tail].links[by].next = i
	}
	l.tail = i
}

// unlink takes an entry out of a list.
func (s *entries) unlink(l *list, i int32, by membership) {
	was := s.slab[i].links[by]
	if was.prev == 0 {
		l.head = was.next
	} else {
		s.slab[was.prev].links[by].next = was.next
	}
	if was.next == 0 {
		l.tail = was.prev
	} else {
		s.slab[was.next].links[by].prev = was.prev
	}
}
