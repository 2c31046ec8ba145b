package logp

// list is a queue of messages whose memory is a slab's.
type list struct{ head, tail int32 }

// none is the slot that doesn't exist.
const none = -1

var emptyList = list{none, none}

func (l list) empty() bool { return l.head == none }

// slab is the memory of many lists. The slot of an entry that leaves a list is used for the
// next one. So nothing is allocated once the slab is as large as all lists together ever are.
type slab struct {
	slots []slot
	free  int32
}

type slot struct {
	message Message
	next    int32
}

// reset forgets all lists.
func (s *slab) reset() { s.slots, s.free = s.slots[:0], none }

// push adds a message at the end of a list.
func (s *slab) push(l *list, x Message) {
	i := s.free
	if i != none {
		s.free = s.slots[i].next
	} else {
		i = int32(len(s.slots))
		s.slots = append(s.slots, slot{})
	}
	s.slots[i] = slot{x, none}
	if l.head == none {
		l.head = i
	} else {
		s.slots[l.tail].next = i
	}
	l.tail = i
}

// pop takes the first message out of a list that isn't empty.
func (s *slab) pop(l *list) Message {
	i := l.head
	first := &s.slots[i]
	l.head = first.next
	first.next, s.free = s.free, i
	return first.message
}

// drop empties a list.
func (s *slab) drop(l *list) {
	for !l.empty() {
		s.pop(l)
	}
}
