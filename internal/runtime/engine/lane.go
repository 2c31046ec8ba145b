package engine

import (
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
)

// The engine opens the lane, by which C sends and receives what needs no decision (package lane),
// and closes it. The engine's lock is a word of the lane's memory.

const (
	// laneSpins is how often C looks for a frame in vain before it waits in Go: some microseconds.
	// Where processes outnumber cores the sender may need this core.
	laneSpins               = 2000
	laneSpinsOversubscribed = 20
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
	e.shared = e.cfg.Lane
	e.mu = e.shared.NewLock()
	e.cfg.Process.Counts, e.cfg.Process.Requests = &e.shared.Counts, &e.shared.Requests
	e.shared.SetSpins(laneSpins)
	if e.cfg.Oversubscribed {
		e.shared.SetSpins(laneSpinsOversubscribed)
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

// DropComm has C forget a communicator.
func (e *Engine) DropComm(handle uint64) {
	e.withLane(func(m *lane.Memory) { m.DropComm(handle) })
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
		e.shared.Closed.And(^uint32(lane.Tick))
	}
}

// polls is how often anybody, C included, has looked for frames. The lock is held.
func (e *Engine) polls() uint64 { return e.waiting.polls + e.shared.Polls }
