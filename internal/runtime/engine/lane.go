package engine

import (
	"slices"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/lane"
)

// The engine opens the lane, by which C sends and receives what needs no decision (package lane),
// and closes it. The engine's lock is a word of the lane's memory.

const (
	// laneSpins is how often C looks for a frame in vain before it waits in Go: some
	// microseconds. Where processes outnumber cores the sender may need this core.
	laneSpins               = 2000
	laneSpinsOversubscribed = 20
	// laneYieldsOversubscribed is how often C then offers its core to others in a collective.
	laneYieldsOversubscribed = 30
)

const (
	// laneLooks is how often a thread of several looks at once for what it waits for, so that
	// two ranks that run answer each other; laneTurns is how often it then offers its core to
	// others.
	laneLooks               = 40
	laneLooksOversubscribed = 4
	laneTurns               = 500
	laneTurnsOversubscribed = yieldsOversubscribed
)

// ManyThreads says that several threads of the program communicate at the same time.
func (e *Engine) ManyThreads() {
	e.withLane(func(m *lane.Memory) {
		e.threads = true
		if e.cfg.oversubscribed() {
			m.SetThreads(laneLooksOversubscribed, laneTurnsOversubscribed)
		} else {
			m.SetThreads(laneLooks, laneTurns)
		}
	})
}

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
	e.shared.SetLate(e.cfg.late())
	if e.cfg.oversubscribed() {
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

// SetComm makes a communicator known to C, if there is room, it isn't revoked, and all of its
// members live. group must stay as it is until DropComm.
func (e *Engine) SetComm(handle, context uint64, group []proto.Rank) {
	e.withLane(func(m *lane.Memory) {
		if !e.Disturbed() || e.p.ContextError(context) == nil && !slices.ContainsFunc(group, e.p.RankLost) {
			m.SetComm(handle, context, group)
		}
	})
}

// loseInLane leaves the communicators of a lost rank to Go, which knows what the loss means there:
// C goes on between ranks that live. In a job that is to be taken back nothing goes on. The lock is
// held, so no note waits.
func (e *Engine) loseInLane(r proto.Rank) {
	if e.back != nil {
		e.closeLane(lane.Lost)
		return
	}
	e.shared.DropMember(r)
}

// SetPart makes a communicator's common memory known to C, until DropComm or another SetPart.
func (e *Engine) SetPart(handle uint64, part *commons.Part) {
	e.withLane(func(m *lane.Memory) { m.SetPart(handle, part) })
}

// SetPact makes the common memory of a communicator's agreements known to C, until DropComm or
// another SetPact.
func (e *Engine) SetPact(handle uint64, part *commons.Part) {
	e.withLane(func(m *lane.Memory) { m.SetPact(handle, part) })
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
	defer e.unlock()
	change(e.cfg.Lane)
}

// ReleaseLane is called by C when it has given up the lock and somebody waits for it.
func (e *Engine) ReleaseLane() { e.mu.Signal() }

// closeLane leaves all to Go from now on, for a reason. The lock is held.
func (e *Engine) closeLane(why uint32) { e.shared.Closed.Or(why) }

// reopen opens the lane after a tick. The lock is held.
func (e *Engine) reopen() {
	if e.shared.Closed.Load()&lane.Tick != 0 {
		if e.cfg.oversubscribed() || e.threads {
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
		e.rivals.yielded(now-e.rivals.late, now)
	}
	pause := now < e.rivals.until
	e.shared.SetPause(pause)
	if e.cfg.oversubscribed() {
		yields := laneYieldsOversubscribed
		if pause {
			yields = 0
		}
		e.shared.SetYields(yields)
	}
}

// polls is how often anybody, C included, has looked for frames. The lock is held.
func (e *Engine) polls() uint64 { return e.waiting.polls + e.shared.Polls }

// SetWin makes a window known to C, if there is room; see lane.Memory.
func (e *Engine) SetWin(handle uint64, w *lane.Win) {
	e.withLane(func(m *lane.Memory) { m.SetWin(handle, w) })
}

// DropWin has C forget a window.
func (e *Engine) DropWin(handle uint64) {
	e.withLane(func(m *lane.Memory) { m.DropWin(handle) })
}
