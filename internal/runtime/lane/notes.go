package lane

import (
	"unsafe"

	"banyan/internal/proto"
)

// Note is a small receive from a named rank that the program has started. A note waits until C
// receives its message, or until Go posts it. It keeps its place until the program's request ends.
//
// Notes are posted late, and that changes nothing. When C makes a note, nothing is posted and
// nothing is unexpected; and as soon as Go has the lock it posts the notes that wait, before it
// posts another receive, looks for a message or reads a ring. So notes and rings are all that there
// is to match, and a message from the head of a ring belongs to the oldest note that it fits.
//
// Go gives notes back to C before it gives the lock up, if they are all that it has under way
// (Return): a receive that no message has matched waits again, in its old place among the others.
// Where C can't make a note, Go does (Add), so that this receive, too, can be given back.
type Note struct {
	handle  uint32 // of the request; in a free place that of the next one
	state   uint16
	flags   uint16
	comm    uint64 // handle
	context uint64
	buffer  unsafe.Pointer
	room    uint64 // in bytes
	world   int32  // the source's rank in the world
	source  int32  // and in the communicator
	tag     int32  // or proto.AnyTag
	got     int32  // the message's tag
	bytes   uint32 // the message's
	older   uint16 // places of the neighbours in the list of those without a message
	younger uint16
}

// Flags of a Note.
const (
	blocking = 1 << iota // MPI_Recv waits for it
	awaited              // a thread waits for it in Go, perhaps asleep
)

// States of a Note.
const (
	free     = iota
	waits    // noted, no more
	received // its message is in the buffer
	posted   // by Go, which may give it back
	kept     // by Go, as an object
)

// Notes is how many receives can have a note at the same time. It is a power of two.
const Notes = 256

// FirstNote is the handle of the first note's first request. The others follow in steps of 16; the
// upper bits, from 24 on, count the requests that a note has been used for, as in the tables of
// package binding. IsNote recognises them.
const (
	FirstNote  = NoProc - Notes<<4
	generation = 1 << 24
	lastHandle = 1 << 30
)

// notes are the receives that were noted. Those without a message, which wait or are posted, are
// a list in the order of the program: so one that waits long, as a thread's that doesn't run,
// costs the others nothing.
type notes struct {
	next   uint32 // the place to be tried first, modulo Notes
	_      uint32
	posted int             // how many Go may give back
	table  [Notes + 1]Note // the last is the list's end, next to its oldest and its youngest
}

func (n *notes) init() {
	for i := range n.table[:Notes] {
		n.table[i].handle = FirstNote + uint32(i)<<4
	}
	n.end().older, n.end().younger = Notes, Notes
}

func (n *notes) end() *Note { return &n.table[Notes] }

// link makes a note the youngest of those without a message.
func (n *notes) link(place uint32) {
	youngest := n.end().older
	n.table[place].older, n.table[place].younger = youngest, Notes
	n.table[youngest].younger, n.end().older = uint16(place), uint16(place)
}

// unlink takes a note out of the list, because it has its message or isn't C's any more.
func (n *notes) unlink(of *Note) {
	n.table[of.older].younger, n.table[of.younger].older = of.younger, of.older
}

// IsNote says whether a handle is one of a note's requests, present or not.
func IsNote(handle uint64) bool {
	return handle < lastHandle && handle&15 == Kind && PlaceOf(handle) < Notes
}

// PlaceOf is the number of the note that a handle is about.
func PlaceOf(handle uint64) uint32 { return uint32(handle%generation-FirstNote) >> 4 }

// Noted says whether notes wait.
func (m *Memory) Noted() bool { return m.waiting != 0 }

// Post calls post for each note that waits, in the order of the program.
func (m *Memory) Post(post func(place uint32, n *Note)) {
	if m.waiting == 0 {
		return
	}
	for k := m.notes.end().younger; k != Notes; {
		n := &m.notes.table[k]
		if n.state == waits {
			n.state = posted
			m.notes.posted++
			post(uint32(k), n)
		}
		k = n.younger
	}
	m.waiting = 0
}

// Posted is how many notes Go has posted and may give back.
func (m *Memory) Posted() int { return m.notes.posted }

// Add makes the youngest note, of a receive that Go has posted. There is no room for more than
// Notes. source is a rank of the communicator, world that of the world; tag may be proto.AnyTag.
func (m *Memory) Add(comm, context uint64, world proto.Rank, source int, tag int32, buffer []byte) (handle uint64, place uint32, ok bool) {
	q := &m.notes
	for range Notes {
		place = q.next % Notes
		q.next++
		n := &q.table[place]
		if n.state != free {
			continue
		}
		*n = Note{handle: n.handle, state: posted, comm: comm, context: context, buffer: unsafe.Pointer(unsafe.SliceData(buffer)),
			room: uint64(len(buffer)), world: int32(world), source: int32(source), tag: tag}
		q.link(place)
		q.posted++
		return uint64(n.handle), place, true
	}
	return 0, 0, false
}

// Return gives the notes that Go has posted back to C. withdraw takes a receive back, and tells
// whether its message has come; ok is false for one that must stay posted.
func (m *Memory) Return(withdraw func(place uint32) (tag int32, bytes uint64, came, ok bool)) {
	for k := m.notes.end().younger; k != Notes; {
		n, place := &m.notes.table[k], uint32(k)
		k = n.younger
		if n.state != posted {
			continue
		}
		tag, bytes, came, ok := withdraw(place)
		switch {
		case !ok:
		case came:
			m.Settle(n, tag, bytes)
		default:
			n.state = waits
			m.waiting++
			m.notes.posted--
		}
	}
}

// Settle says that the message of a note that Go has posted is in its buffer.
func (m *Memory) Settle(n *Note, tag int32, bytes uint64) {
	n.state, n.got, n.bytes = received, tag, uint32(bytes)
	m.notes.unlink(n)
	m.notes.posted--
}

// Note is the note of a request, nil if the request has ended or never was.
func (m *Memory) Note(handle uint64) *Note {
	if !IsNote(handle) {
		return nil
	}
	n := &m.notes.table[PlaceOf(handle)]
	if n.state == free || uint64(n.handle) != handle {
		return nil
	}
	return n
}

// Keep has C leave a request to Go from now on. It tells whether the message has been received.
func (m *Memory) Keep(n *Note) (already bool) {
	already = n.state == received
	m.notes.drop(n)
	n.state = kept
	return already
}

// Free ends a request.
func (m *Memory) Free(n *Note) {
	m.notes.drop(n)
	n.handle, n.state = (n.handle+generation)%lastHandle, free
}

// drop takes a note out of the list, if Go has posted it.
func (n *notes) drop(of *Note) {
	if of.state == posted {
		n.unlink(of)
		n.posted--
	}
}

// Posted tells whether Go has posted the receive, and may give it back.
func (n *Note) Posted() bool { return n.state == posted }

// Received tells whether the message is in the buffer.
func (n *Note) Received() bool { return n.state == received }

// EachNote calls visit with the handle of each request.
func (m *Memory) EachNote(visit func(handle uint64)) {
	for i := range m.notes.table {
		if n := &m.notes.table[i]; n.state != free {
			visit(uint64(n.handle))
		}
	}
}

// Envelope is what the receive takes: source is a rank of the world, tag may be proto.AnyTag.
func (n *Note) Envelope() (context uint64, source proto.Rank, tag int32) {
	return n.context, proto.Rank(n.world), n.tag
}

// Comm is the communicator's handle, and the source's rank in it.
func (n *Note) Comm() (handle uint64, source int) { return n.comm, int(n.source) }

// Buffer is the program's.
func (n *Note) Buffer() []byte { return unsafe.Slice((*byte)(n.buffer), n.room) }

// Message is what C has received.
func (n *Note) Message() (tag int32, bytes uint64) { return n.got, uint64(n.bytes) }

// SetBlocking says that MPI_Recv waits for the note.
func (n *Note) SetBlocking() { n.flags |= blocking }

// Blocking tells whether MPI_Recv waits for the note.
func (n *Note) Blocking() bool { return n.flags&blocking != 0 }

// Await says whether a thread waits for the note in Go: then C tells Go when its message has come.
func (n *Note) Await(on bool) {
	if on {
		n.flags |= awaited
	} else {
		n.flags &^= awaited
	}
}
