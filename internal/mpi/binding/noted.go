package binding

import (
	"sync"
	"unsafe"

	"banyan/internal/runtime/lane"
)

// Small receives have notes (package lane), by which C starts and ends them, mostly without Go. A
// request whose note comes here, since a function is about it that C doesn't know, or since it has
// ended by an error, gets an object as others have, and is Go's from then on. Its handle stays the
// note's, since the program may have copies of it.

// notes are the objects of noted receives.
type notes struct {
	mu      sync.Mutex
	objects [lane.Notes]struct {
		handle Request
		object *request
	}
}

// NoteReceive starts an MPI_Recv by a note, so that C waits for it and other threads may go on
// there. ok is false, and nothing is done, if this receive is none for a note, or wrong.
func (p *Process) NoteReceive(buf unsafe.Pointer, count int64, datatype Datatype, source, tag int32, comm Comm) (request Request, ok bool) {
	c := p.communicator(comm)
	if c == nil || source < 0 || int(source) >= c.comm.Size() || tag < 0 && tag != AnyTag {
		return RequestNull, false
	}
	b, ok := p.plain.bytes(buf, count, datatype)
	if !ok {
		return RequestNull, false
	}
	note, ok := c.comm.Note(uint64(comm), b, int(source), tagOf(tag), true)
	return Request(note), ok
}

// noted is the request of a receive that has a note, nil if there is none.
func (p *Process) noted(h Request) *request {
	if !p.live() {
		return nil
	}
	q := &p.requests.notes
	q.mu.Lock()
	defer q.mu.Unlock()
	known := &q.objects[lane.PlaceOf(uint64(h))]
	if known.object != nil && known.handle == h {
		return known.object
	}
	n, ok := p.job.Engine().NotedReceive(uint64(h))
	if !ok {
		return nil
	}
	c := p.communicator(Comm(n.Comm)) // forget sees to it that it is there
	function := "MPI_Irecv"
	if n.Blocking {
		function = "MPI_Recv"
	}
	r := p.newRequest(c, function)
	r.d = data{bytes: n.Buffer}
	if n.Received {
		r.settle(int32(n.Source))
		r.tag, r.bytes = n.Status.Tag, int64(n.Status.Bytes)
	} else {
		r.pending = c.comm.Started(n.Handle, n.Source, n.Tag)
		r.follow(n.Handle)
	}
	known.handle, known.object = h, r
	return r
}

// endNoted ends the handle of a receive that has a note.
func (p *Process) endNoted(h Request) {
	q := &p.requests.notes
	q.mu.Lock()
	defer q.mu.Unlock()
	q.objects[lane.PlaceOf(uint64(h))].object = nil
	p.job.Engine().EndNoted(uint64(h))
}

// keepNoted makes objects of all receives with notes, which keep their communicators.
func (p *Process) keepNoted() {
	for _, h := range p.job.Engine().AllNoted() {
		p.noted(Request(h))
	}
}
