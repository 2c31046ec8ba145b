package lane

import (
	"unsafe"

	"banyan/internal/proto"
)

// Note is a receive that the program has started and that C hasn't told Go of. A note waits until C
// receives its message, or until Go posts it. It keeps its place until the program's request ends.
//
// Notes are posted late, and that changes nothing. When a note is made, nothing is posted and
// nothing is unexpected; and as soon as Go has the lock it posts the notes that wait, before it
// posts another receive, looks for a message or reads a ring. So notes and rings are all that there
// is to match, and a message from the head of a ring belongs to the oldest note that it fits.
type Note struct {
	handle  uint32 // of the request; in a free place that of the next one
	state   uint32
	comm    uint64 // handle
	context uint64
	buffer  unsafe.Pointer
	room    uint64 // in bytes
	world   int32  // the source's rank in the world
	source  int32  // and in the communicator
	tag     int32  // or proto.AnyTag
	got     int32  // the message's tag
	bytes   uint64 // the message's
}

// States of a Note.
const (
	free     = iota
	waits    // noted, no more
	received // by C
	posted   // by Go
)

// Notes is how many receives can have a note at the same time. It is a power of two.
const Notes = 256

// FirstNote is the handle of the first note's first request. The others follow in steps of 16; the
// upper bits, from 24 on, count the requests that a note has been used for, as in the tables of
// package binding. IsNote recognises them.
const (
	FirstNote  = (1<<20-2-Notes)<<4 | 5
	generation = 1 << 24
	lastHandle = 1 << 31
)

// notes are the receives that were noted.
type notes struct {
	first uint32 // the place of the oldest that waits, modulo Notes, if any does
	next  uint32 // one behind that of the youngest
	table [Notes]Note
}

func (n *notes) init() {
	for i := range n.table {
		n.table[i].handle = FirstNote + uint32(i)<<4
	}
}

// IsNote says whether a handle is one of a note's requests, present or not.
func IsNote(handle uint64) bool {
	return handle < lastHandle && handle&15 == FirstNote&15 && PlaceOf(handle) < Notes
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
	for k := m.notes.first; k != m.notes.next; k++ {
		if n := &m.notes.table[k%Notes]; n.state == waits {
			n.state = posted
			post(k%Notes, n)
		}
	}
	m.waiting = 0
}

// Note is the note of a request, nil if the request has ended or never was. From now on its request
// is Go's.
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

// Keep has C leave a request to Go from now on. It tells whether C has received its message.
func (n *Note) Keep() (already bool) {
	already = n.state == received
	n.state = posted
	return already
}

// Free ends a request.
func (n *Note) Free() {
	n.handle, n.state = (n.handle+generation)%lastHandle, free
}

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
func (n *Note) Message() (tag int32, bytes uint64) { return n.got, n.bytes }
