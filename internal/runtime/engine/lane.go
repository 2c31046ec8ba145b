package engine

import (
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/lane"
)

// The engine opens the lane, by which C sends and receives what needs no decision (package lane),
// and closes it. The engine's lock is a word of the lane's memory.

const (
	// laneSpins is how often C looks for a frame in vain before it waits in Go: some microseconds.
	// Where processes outnumber cores the sender may need this core.
	laneSpins               = 2000
	laneSpinsOversubscribed = 20
	// laneYieldsOversubscribed is how often C then offers its core to others in a collective.
	laneYieldsOversubscribed = 30
)

// openLane prepares the memory that Go and C share. The lock of a job without a lane is in memory
// of its own.
func (e *Engine) openLane() {
	tr, can := e.tr.(interface {
		Share(publish func(p proto.Proc, ends unsafe.Pointer))
	})
	if e.cfg.Lane == nil || !can || !e.cfg.mayHaveLane() {
		e.cfg.Lane, e.shared = nil, lane.Private()
		e.mu = e.shared.NewLock()
		return
	}
	e.shared, e.posted = e.cfg.Lane, make([]Handle, lane.Notes)
	e.mu = e.shared.NewLock()
	e.cfg.Process.Counts, e.cfg.Process.Requests = &e.shared.Counts, &e.shared.Requests
	e.shared.SetSpins(laneSpins)
	if e.cfg.Oversubscribed {
		e.shared.SetSpins(laneSpinsOversubscribed)
		e.shared.SetYields(laneYieldsOversubscribed)
	}
	// Without replicas a process has the number of its rank.
	tr.Share(func(p proto.Proc, ends unsafe.Pointer) { e.shared.SetPeer(proto.Rank(p), ends) })
}

// mayHaveLane says whether nothing has to hear of each message.
func (c *Config) mayHaveLane() bool {
	p := &c.Process
	return !p.Layout.Replicated() && !p.Heal && !p.Replacement && p.Perturb == 0 && p.Recorder == nil && p.Corrupted == nil &&
		c.BeforeSend == nil && c.Calls == nil
}

// Lane is the memory that C may use, nil if this job has no lane.
func (e *Engine) Lane() *lane.Memory { return e.cfg.Lane }

// SetSizes makes the plain predefined types known to C.
func (e *Engine) SetSizes(sizes *[256]uint8) {
	e.withLane(func(m *lane.Memory) { m.SetSizes(sizes) })
}

// SetComm makes a communicator known to C, if there is room. group must stay as it is until
// DropComm.
func (e *Engine) SetComm(handle, context uint64, group []proto.Rank) {
	e.withLane(func(m *lane.Memory) { m.SetComm(handle, context, group) })
}

// SetPart makes a communicator's common memory known to C, until DropComm or another SetPart.
func (e *Engine) SetPart(handle uint64, part *commons.Part) {
	e.withLane(func(m *lane.Memory) { m.SetPart(handle, part) })
}

// DropComm has C forget a communicator.
func (e *Engine) DropComm(handle uint64) {
	e.withLane(func(m *lane.Memory) { m.DropComm(handle) })
}

// SetType makes a type of the program known to C, if there is room; see lane.Memory.
func (e *Engine) SetType(handle uint64, extent int64, runs []lane.Run) {
	e.withLane(func(m *lane.Memory) { m.SetType(handle, extent, runs) })
}

// DropType has C forget a type.
func (e *Engine) DropType(handle uint64) {
	e.withLane(func(m *lane.Memory) { m.DropType(handle) })
}

func (e *Engine) withLane(change func(m *lane.Memory)) {
	if e.cfg.Lane == nil {
		return
	}
	e.lock()
	defer e.mu.Unlock()
	change(e.cfg.Lane)
}

// ReleaseLane is called by C when it has given up the lock and somebody waits for it.
func (e *Engine) ReleaseLane() { e.mu.Signal() }

// closeLane leaves all to Go from now on, for a reason. The lock is held.
func (e *Engine) closeLane(why uint32) { e.shared.Closed.Or(why) }

// reopen opens the lane after a tick. The lock is held.
func (e *Engine) reopen() {
	if e.shared.Closed.Load()&lane.Tick != 0 {
		if e.cfg.Oversubscribed {
			e.shareRivals()
		}
		e.shared.Closed.And(^uint32(lane.Tick))
	}
}

// shareRivals hears how C's yields went, and says whether C may yield. The lock is held.
func (e *Engine) shareRivals() {
	now := e.now()
	prompt, late := e.shared.Yielded()
	e.rivals.promptly(prompt)
	if late {
		e.rivals.yielded(now-lateYield, now)
	}
	yields := laneYieldsOversubscribed
	if now < e.rivals.until {
		yields = 0
	}
	e.shared.SetYields(yields)
}

// polls is how often anybody, C included, has looked for frames. The lock is held.
func (e *Engine) polls() uint64 { return e.waiting.polls + e.shared.Polls }

// Noted is a receive that C has noted.
type Noted struct {
	Comm        uint64 // handle
	Source, Tag int    // Source in the communicator; Tag may be proto.AnyTag
	Buffer      []byte
	// Received says that C has received the message, of which Status tells. Else Handle is of the
	// operation.
	Received bool
	Status   Status // its Source isn't set
	Handle   Handle
}

// NotedReceive is the receive that C has noted for a request. From now on C leaves the request to
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
		n.Tag, n.Buffer, ok = int(tag), note.Buffer(), true
		if n.Received = note.Keep(); n.Received {
			tag, bytes := note.Message()
			n.Status = Status{Tag: tag, Bytes: int(bytes)}
			return
		}
		n.Handle = e.posted[lane.PlaceOf(request)]
	})
	return n, ok
}

// EndNoted forgets a request of C's.
func (e *Engine) EndNoted(request uint64) {
	e.withLane(func(m *lane.Memory) {
		if note := m.Note(request); note != nil {
			note.Free()
		}
	})
}

// AllNoted lists C's requests.
func (e *Engine) AllNoted() (requests []uint64) {
	e.withLane(func(m *lane.Memory) {
		m.EachNote(func(request uint64) { requests = append(requests, request) })
	})
	return requests
}

// postNoted posts the receives that C has noted. The lock is held.
func (e *Engine) postNoted() {
	e.shared.Post(func(place uint32, n *lane.Note) {
		context, source, tag := n.Envelope()
		e.posted[place] = e.p.Receive(context, source, tag, n.Buffer())
	})
}
