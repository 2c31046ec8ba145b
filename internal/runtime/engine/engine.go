// Package engine is the real driver of a job's process: it owns the process's clock and its lock,
// polls its transport, and steps its machines.
//
// # Progress
//
// The thread that waits makes the progress: a blocking call polls the transport itself, so that a
// message costs no hop between goroutines. While the program computes, a background goroutine, the
// progress thread, takes over within a few milliseconds. It also sends the heartbeats, which no
// computation may delay. A waiter spins briefly, then yields its core, then blocks in the
// transport: so jobs with more processes than cores stay fast.
//
// # Invariants
//
//   - The Process and the transport are touched only with the lock held, except for
//     Transport.Wait and Wake.
//   - At most one goroutine blocks in Transport.Wait. Other waiters of the same process sleep on
//     a condition variable, and that goroutine wakes them.
//   - The Host's callbacks run with the lock held. They only put events into a channel that is
//     large enough for all of them.
//
// # Limits
//
// The progress thread needs a second thread to run on. Package join raises GOMAXPROCS for it, and
// a program must not lower that again.
package engine

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/counters"
	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
)

// Config says how an Engine runs its process. Functions that are nil are not called.
type Config struct {
	Process process.Config
	// Crowd is how many of the job's processes share each core of this host, rounded up; 0 stands
	// for 1. Above that the host is oversubscribed: waiters give up their core sooner.
	Crowd int
	// Agreed says that all processes of this host were told the same number of cores.
	Agreed bool
	// BeforeSend is called with the number of each message, 1, 2, 3…, before the message is
	// sent. The message consists of what it returns. Fault plans strike there.
	BeforeSend func(n uint64, data []byte) []byte
	// Starved tells whether a process that has been silent for δ wants to run and gets no core,
	// as far as this process can see. It is called with the engine's lock held.
	Starved func(q proto.Proc) bool
	// Committed is called in a replacement when it has its donor's state. From then on only the
	// replacement writes what its program writes.
	Committed func()
	// HealFailed is called in a replacement that can't take over from a dead process. It has to
	// end the process: the program learns of the failure too, but would end without saying why.
	HealFailed func(err error)
	// Outside says why a replacement can't have what this process has outside of its memory;
	// nil if it can. The engine asks at safe points.
	Outside func() error
	// Calls hears what the program calls.
	Calls Calls
	// Where says where the program makes the present call, on its thread; "" if that is
	// unknown. It is called for errors that can't tell otherwise what they are about.
	Where func() string
	// FirstDecision is told of the first call of the program that timing can decide, in words,
	// before its outcome, and where it is ("" if that is unknown). It is called with the
	// engine's lock held, if Process.Auto is set, and isn't called in replacements.
	FirstDecision func(call, where string)
	// Threads knows the program's threads. nil: they have no names.
	Threads Threads
	// Unfollowed is called in a replica that can't do as its leader does (process.OrderError),
	// and for a program that can't be led. It has to end the process. It may call the engine.
	Unfollowed func(err error)
	// Rollback, if set, has snapshots taken of the job (rollback.go).
	Rollback *Rollback
	// SpareRanks is how many of the last ranks wait to take the place of dead ones. It is the
	// same at all processes.
	SpareRanks int
	// Counters, if set, is where the engine writes what this process has counted (counting.go).
	Counters *counters.Page
	// RecordSpan, if set, makes what records a span of time of which Counters asks (span.go).
	RecordSpan func(s counters.Span) (SpanRecorder, error)
	// Lane, if set, is memory by which the C of this process uses the rings (lane.go).
	Lane *lane.Memory
}

// Engine drives one process.
type Engine struct {
	cfg     Config
	tr      transport.Transport
	doze    func(limit time.Duration) // how the progress thread waits in tr
	start   time.Time
	events  chan Event
	stop    chan struct{}
	stopped sync.WaitGroup

	shared  *lane.Memory
	posted  []Handle  // by note of C's: what Go has posted for it
	mu      lane.Lock // guards all that follows
	p       *process.Process
	done    func(Handle) bool // p.Done, made once
	sends   uint64            // messages that the program has sent
	closed  bool
	threads bool // several of the program use the lane

	led       bool // a replica of this rank decides what timing decides (led.go)
	orders    bool // also what its threads do (ledthreads.go)
	vain      int  // looks in a row that found nothing, then
	clocks    map[Clock]*ledClock
	disturbed atomic.Bool // a rank is lost, or a communicator was revoked here

	waiting   waiting
	rivals    rivals
	attends   bool // what attend does; the same as long as the engine lives
	polling   polling
	running   running
	sharing   []sharedCall // that wait
	locking   []*lockWait
	listening listening
	views     views
	safe      safe
	counted   counting
	span      span
	// recorder is what records now: that of the Config, or a span's; nil: nothing does.
	recorder process.Recorder
	back     *back // nil: no snapshots are taken

	reporting reporting
}

// New starts an engine and its progress thread. The engine takes the transport over.
func New(cfg Config, tr transport.Transport) *Engine {
	e := &Engine{
		cfg:    cfg,
		tr:     tr,
		start:  time.Now(),
		events: make(chan Event, 3*cfg.Process.Layout.Procs()+8),
		stop:   make(chan struct{}),
	}
	e.recorder = cfg.Process.Recorder
	e.rivals.late = proto.Time(cfg.late())
	e.attends = !cfg.Process.Layout.Replicated()
	e.openLane()
	e.beginCounting()
	e.waiting.awake.L = &e.mu
	e.waiting.rested = make(chan struct{}, 1)
	e.doze = tr.Wait
	if d, ok := tr.(interface{ Doze(time.Duration) }); ok {
		e.doze = d.Doze
	}
	e.views.more = make(chan struct{})
	e.beginRollback()
	e.orderOf(&e.cfg.Process)
	e.p = process.New(e.cfg.Process, 0, tr, host{e})
	e.done, e.led = e.p.Done, e.p.Led()
	if e.back != nil && e.p.Repeats() && !cfg.Process.Replacement {
		e.back.part.Gather()
	}
	if v := e.p.View(); v != nil {
		e.views.list = append(e.views.list, v)
	}
	e.safe.setDue(cfg.Process.Heal || cfg.Process.Replacement || cfg.Rollback != nil)
	e.stopped.Add(1)
	go e.keep()
	return e
}

// Calls is the listener of the Config, or nil.
func (e *Engine) Calls() Calls { return e.cfg.Calls }

// Events brings the events of the process. It is never closed.
func (e *Engine) Events() <-chan Event { return e.events }

func (e *Engine) now() proto.Time { return proto.Time(time.Since(e.start)) }

// FramesSent is how many frames this process has sent, heartbeats included.
func (e *Engine) FramesSent() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.p.FramesSent + e.shared.Sent
}

// OneThread says that the program communicates from one thread at a time.
func (e *Engine) OneThread() { e.tell(func(p *process.Process) { p.Alone() }) }

// Located adds to a process.CallError where the program makes the present call. Other errors stay
// as they are.
func (e *Engine) Located(err error) error {
	if c := process.CallError(nil); errors.As(err, &c) && *c.Place() == "" && e.cfg.Where != nil {
		*c.Place() = e.cfg.Where()
	}
	return err
}

// Fenced tells whether the other processes hold this one for dead.
func (e *Engine) Fenced() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.p.Fenced()
}

// Self is the number of this process, and its rank.
func (e *Engine) Self() (proto.Proc, proto.Rank) { return e.cfg.Process.Self, e.p.Rank() }

// Evidence says that a process has certainly died, in all incarnations up to the given one.
func (e *Engine) Evidence(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Evidence(q, incarnation) })
}

// Hearsay says that a process counts as dead, in all incarnations up to the given one, by the word
// of a party that can be mistaken.
func (e *Engine) Hearsay(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Hearsay(q, incarnation) })
}

// Excuse says that a process may be silent because a debugger has stopped it, or that this is over.
func (e *Engine) Excuse(q proto.Proc, excused bool) {
	e.tell(func(p *process.Process) { p.Excuse(q, excused) })
}

// Left says that a process has left the job in order.
func (e *Engine) Left(q proto.Proc) { e.tell(func(p *process.Process) { p.Left(q) }) }

// Abort tells the other processes to end.
func (e *Engine) Abort(code int) {
	e.tell(func(p *process.Process) {
		p.Abort(code)
		e.tr.Drain(100 * time.Millisecond)
	})
}

// tell steps the process outside of any wait, and wakes the threads whose wait that ended.
func (e *Engine) tell(step func(p *process.Process)) {
	e.lock()
	defer e.unlock()
	if e.closed {
		return
	}
	e.p.At(e.now())
	step(e.p)
	e.wake()
}

// wake wakes the threads that sleep. The lock is held.
func (e *Engine) wake() {
	if e.waiting.sleeping {
		e.tr.Wake()
	}
	e.rouse()
}

// nothing is what tell does for those that only want to wake others.
func nothing(*process.Process) {}

// Finish sends what this process owes to others, waits until every live process has come as far,
// and ends the engine. It returns process.ErrFenced if the others have gone on without this
// process. If replicas have diverged, Finish would wait for ever: it returns a
// process.DivergedError and leaves the engine running, so that the others can be told.
func (e *Engine) Finish() error {
	e.lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closeLane(lane.Ended)
	e.p.Finish()
	var diverged error
	departed := func() bool {
		diverged = e.p.Diverged()
		return diverged != nil || e.p.Departed()
	}
	e.until(func() bool { return departed() || e.p.Flushed() })
	if diverged == nil {
		e.p.Depart()
		e.until(departed)
	}
	if diverged != nil {
		e.mu.Unlock()
		return diverged
	}
	e.p.Goodbye()
	fenced := e.p.Fenced()
	e.mu.Unlock()
	if err := e.Close(); err != nil || !fenced {
		return err
	}
	return process.ErrFenced
}

// Close ends the engine and tells nobody. Calls that wait in it return process.ErrClosed.
func (e *Engine) Close() error {
	e.lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.shut()
	return e.endClosed()
}

// shut ends all operations. The lock is held.
func (e *Engine) shut() {
	e.closed = true
	e.closeLane(lane.Ended)
	e.p.Close()
	close(e.stop)
	e.rouse()
}

// endClosed ends an engine that is shut. It gives the lock up.
func (e *Engine) endClosed() error {
	for e.waiting.sleeping { // the transport may be closed only when nobody waits in it
		e.tr.Wake()
		e.slumber()
	}
	e.mu.Unlock()
	e.stopped.Wait()
	e.tr.Drain(time.Second)
	return e.tr.Close()
}
