package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
)

// Small receives from named ranks of this host have notes (package lane), whether C or Go has
// started them. While Go has the lock they are posted (lock). Before it gives the lock up, at the
// end of a call, they go back to C, if nothing else is under way (unlock): else the first wait that
// came to Go would leave all further receives to Go, as long as the program always has some posted.

// Noted is a receive that has a note.
type Noted struct {
	Comm        uint64 // handle
	Source, Tag int    // Source in the communicator; Tag may be proto.AnyTag
	Buffer      []byte
	// Received says that the message has come, of which Status tells. Else Handle is of the
	// operation.
	Received bool
	Status   Status // its Source isn't set
	Handle   Handle
	Blocking bool // MPI_Recv waits for it
}

// NotedReceive is the receive that has a note, by its request. From now on C leaves the request to
// Go, and the caller ends it by EndNoted. ok is false if there is no such request.
func (e *Engine) NotedReceive(request uint64) (n Noted, ok bool) {
	e.withLane(func(m *lane.Memory) {
		note := m.Note(request)
		if note == nil {
			return
		}
		var tag int32
		n.Comm, n.Source = note.Comm()
		_, _, tag = note.Envelope()
		n.Tag, n.Buffer, n.Blocking, ok = int(tag), note.Buffer(), note.Blocking(), true
		if n.Received = m.Keep(note); n.Received {
			tag, bytes := note.Message()
			n.Status = Status{Tag: tag, Bytes: int(bytes)}
			return
		}
		n.Handle = e.posted[lane.PlaceOf(request)]
	})
	return n, ok
}

// EndNoted forgets a request.
func (e *Engine) EndNoted(request uint64) {
	e.withLane(func(m *lane.Memory) {
		if note := m.Note(request); note != nil {
			m.Free(note)
		}
	})
}

// AllNoted lists the requests.
func (e *Engine) AllNoted() (requests []uint64) {
	e.withLane(func(m *lane.Memory) {
		m.EachNote(func(request uint64) { requests = append(requests, request) })
	})
	return requests
}

// Note posts a receive that gets a note, by which C may wait for it. comm is the communicator's
// handle and source the rank there, world in the world. ok is false, and nothing is done, if there
// is no room or C can't receive such a message. blocking says that MPI_Recv waits for it.
func (e *Engine) Note(comm, context uint64, world proto.Rank, source int, tag int32, buffer []byte, blocking bool) (request uint64, ok bool) {
	if e.cfg.Lane == nil || len(buffer) > lane.MaxSize {
		return 0, false
	}
	e.lock()
	if e.shared.SharesRings(world) {
		var place uint32
		if request, place, ok = e.shared.Add(comm, context, world, source, tag, buffer); ok {
			e.posted[place] = e.p.Receive(context, world, tag, buffer)
			if blocking {
				e.shared.Note(request).SetBlocking()
			}
			e.settle(request)
			e.waiting.polls++ // the progress thread isn't to read what C can
		}
	}
	e.serve()
	e.unlock()
	return request, ok
}

// AwaitNoted waits until receives with notes have ended. C ends their requests, except for those
// with an error.
func (e *Engine) AwaitNoted(requests []uint64) {
	e.lock()
	e.awaits(requests, true)
	for _, r := range requests {
		e.wait(func() bool { return e.over(r) }, e.spent())
		if !e.settle(r) {
			break // an error: Go reports it, and those behind may never end
		}
	}
	e.awaits(requests, false)
	e.serve()
	e.unlock()
}

// serve polls and looks at the clock if the progress thread has closed the lane for that: a wait
// that ends soon may do neither, and C would have to enter Go until another one does. The lock is
// held.
func (e *Engine) serve() {
	if e.shared.Closed.Load()&lane.Tick != 0 && !e.closed {
		e.step()
		e.tick()
	}
}

// awaits says whether a thread waits here for notes.
func (e *Engine) awaits(requests []uint64, on bool) {
	if !e.threads {
		return
	}
	for _, r := range requests {
		if n := e.shared.Note(r); n != nil {
			n.Await(on)
		}
	}
}

// spent is how much of its patience a thread has spent in C.
func (e *Engine) spent() int {
	if e.threads {
		return impatient
	}
	return 0
}

// RouseNoted wakes the threads that wait here for notes, since C has received for one of them.
func (e *Engine) RouseNoted() {
	e.tell(nothing)
}

// ServeNoted looks at the clock and polls once, so that C may go on.
func (e *Engine) ServeNoted(requests []uint64) {
	e.lock()
	e.step()
	e.tick()
	e.settleAll(requests)
	e.unlock()
}

// AwaitAnyNoted waits until one of several receives with notes has ended.
func (e *Engine) AwaitAnyNoted(requests []uint64) {
	e.lock()
	e.awaits(requests, true)
	e.wait(func() bool { return e.anyOver(requests) }, e.spent())
	e.awaits(requests, false)
	e.serve()
	e.settleAll(requests)
	e.unlock()
}

// TestNoted makes progress once for receives with notes.
func (e *Engine) TestNoted(requests []uint64) {
	e.lock()
	if !e.anyOver(requests) {
		e.try()
	}
	e.settleAll(requests)
	e.unlock()
}

func (e *Engine) anyOver(requests []uint64) bool {
	for _, r := range requests {
		if lane.IsNote(r) && e.over(r) { // others are null
			return true
		}
	}
	return false
}

// over tells whether a receive with a note has ended; so have requests that aren't there.
func (e *Engine) over(request uint64) bool {
	n := e.shared.Note(request)
	return n == nil || !n.Posted() || e.p.Done(e.posted[lane.PlaceOf(request)])
}

// settle leaves a request to C, if it can be. It returns false if that has ended by an error.
func (e *Engine) settle(request uint64) bool {
	n := e.shared.Note(request)
	if n == nil || !n.Posted() {
		return true
	}
	h := e.posted[lane.PlaceOf(request)]
	if !e.p.Done(h) {
		return true
	}
	s, _, ok := e.p.Withdraw(h)
	if ok {
		e.shared.Settle(n, s.Tag, uint64(s.Bytes))
	}
	return ok
}

func (e *Engine) settleAll(requests []uint64) {
	for _, r := range requests {
		e.settle(r)
	}
}

// lock takes the engine's lock, and posts what C has noted: so as long as Go has the lock no note
// waits. Functions that only look something up lock mu itself. A waiter that spins with the lock
// sees that it is wanted, and gives it up.
func (e *Engine) lock() {
	e.mu.Lock()
	if e.shared.Noted() {
		e.postNoted()
	}
}

// postNoted posts the receives whose notes wait. The lock is held.
func (e *Engine) postNoted() {
	e.shared.Post(func(place uint32, n *lane.Note) {
		context, source, tag := n.Envelope()
		e.posted[place] = e.p.Receive(context, source, tag, n.Buffer())
	})
}

// unlock gives the lock up at the end of a call, and the notes back to C.
func (e *Engine) unlock() {
	if e.shared.Posted() != 0 {
		e.returnNoted()
	}
	e.mu.Unlock()
}

// leaveToThreads gives the notes back before a thread blocks, so that others go on in C. A wait
// that has become a long one keeps its receive: the process asks about those that stay posted.
func (e *Engine) leaveToThreads() {
	if e.threads && !e.waiting.resting && e.shared.Posted() != 0 {
		e.returnNoted()
	}
}

// servedInC says that another thread waits in C. It receives for all, so this one needn't be woken
// for each message. If that one goes on with the program the progress thread wakes this one.
func (e *Engine) servedInC() bool { return e.threads && e.shared.WaitsInC() }

// returnNoted gives the receives that have notes back to C, if nothing else is under way: else C
// would have to leave messages to receives that it doesn't know. Messages that are unexpected fit
// none of them. The lock is held.
func (e *Engine) returnNoted() {
	m := e.shared
	if m.Requests != m.Posted() || m.Closed.Load()&^lane.Tick != 0 {
		return
	}
	m.Return(func(place uint32) (tag int32, bytes uint64, came, ok bool) {
		s, came, ok := e.p.Withdraw(e.posted[place])
		return s.Tag, uint64(s.Bytes), came, ok
	})
}
