// Package engine is the real driver: it owns the clock and the lock of one
// process, polls its transport, and steps its machines.
//
// # Who makes progress
//
// The thread that waits does: a blocking call polls the transport itself, so a
// message costs no hop between goroutines. While the program computes, a
// background progress thread takes over within a few milliseconds; it also sends the
// heartbeats, which no computation must delay. A waiter spins briefly, then
// yields the processor, then blocks in the transport: jobs with more processes
// than cores stay fast.
//
// # Invariants
//
//   - The Process and the transport are only touched with the lock held, but
//     for Transport.Wait and Wake.
//   - At most one goroutine blocks in Transport.Wait; other waiters of the same
//     process sleep on the condition variable and are woken by it.
//   - The Host's callbacks run with the lock held and only put into a channel
//     that is large enough for all of them.
//
// # Limits
//
// The progress thread needs a second thread to run on: the library raises GOMAXPROCS
// (see package job), and a program must not lower it.
package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
)

// Config says how an Engine runs its process.
type Config struct {
	Process process.Config
	// Oversubscribed says that there are more processes than cores here: waiters
	// give up their core sooner.
	Oversubscribed bool
	// Agreed says that all processes of this host have been told the same number of cores.
	Agreed bool
	// BeforeSend, if set, is called with the number of each message before
	// it is sent: 1, 2, 3… What it returns is sent in place of data. Fault plans
	// strike there.
	BeforeSend func(n uint64, data []byte) []byte
	// Starved, if set, tells whether a process that has been silent for δ wants to run
	// and doesn't come to it, as far as can be seen from here. It is called with the
	// engine's lock held.
	Starved func(q proto.Proc) bool
	// Committed, if set, is called in a replacement when it has its donor's state: what the
	// program writes from here on nobody else writes.
	Committed func()
	// HealFailed, if set, is called in a replacement that can't take the place of a dead process,
	// and is to end it: the program, which finds out as well, would end without a word of why.
	HealFailed func(err error)
	// Outside, if set, says why a replacement can't have what this process has outside of its memory, or
	// nil. It is asked at safe points.
	Outside func() error
	// Calls, if set, hears what the program calls.
	Calls Calls
}

// EventKind says what an Event tells.
type EventKind uint8

// Kinds of events.
const (
	Died       EventKind = iota // a process: Report says how
	RankLost                    // no replica of Rank is left
	Fenced                      // this process is held for dead, By whom
	Aborted                     // By called Abort with Code
	Viewed                      // View is in force; Coordinator: this process brought it about
	Minority                    // this process must stop: too many are silent, in Gone
	Heals                       // a healing has come to Step
	Unhealable                  // this process can't give its state to a replacement: Text says why
)

// Event is something that concerns the process as a whole.
type Event struct {
	Kind   EventKind
	Report detector.Report
	Rank   proto.Rank
	By     proto.Proc
	Code   int
	Step   process.HealStep
	Opaque bool // of StepHealable: nobody can tell how much input the program has taken
	// Replacement and Incarnation say whom StepMark is for.
	Replacement proto.Proc
	Incarnation proto.Incarnation
	Text        string

	View        *membership.View
	Coordinator bool
	Gone        []membership.Departure
}

// Engine drives one process.
type Engine struct {
	cfg     Config
	tr      transport.Transport
	doze    func(limit time.Duration) // the progress thread's way to wait in tr
	start   time.Time
	events  chan Event
	stop    chan struct{}
	stopped sync.WaitGroup

	mu                   sync.Mutex
	awake                sync.Cond // signalled when a request ended or the sleeper woke
	p                    *process.Process
	done                 func(Handle) bool // p.Done, made once
	sends                uint64
	polls                uint64       // steps taken by anyone
	waiters              int          // goroutines in until
	slumbering           int          // of them, or in Close, those who wait for awake
	sleeping             bool         // one of them, or the progress thread, is in Transport.Wait
	progressThreadSleeps bool         // it is the progress thread
	wanted               atomic.Int32 // goroutines that wait for the lock
	rivals               rivals
	emptyTests           int         // Tests in a row that found nothing
	lastTest             proto.Time  // the end of the last of them
	napped               proto.Time  // the end of the last sleep of a Test
	probes               []probe     // that wait for a message
	schedules            []*Schedule // that run
	lent                 []*Schedule // of those, with a step due that needs no lock
	settled              uint64      // Changes when the schedules were looked at last
	closed               bool
	views                []*membership.View // that have come into force, from the first on
	viewed               chan struct{}      // closed when there is another one
	safe                 safe
}

// New starts an engine and its progress thread. The transport becomes the engine's.
func New(cfg Config, tr transport.Transport) *Engine {
	e := &Engine{
		cfg:    cfg,
		tr:     tr,
		start:  time.Now(),
		events: make(chan Event, 3*cfg.Process.Layout.Procs()+8),
		stop:   make(chan struct{}),
	}
	e.awake.L = &e.mu
	e.doze = tr.Wait
	if d, ok := tr.(interface{ Doze(time.Duration) }); ok {
		e.doze = d.Doze
	}
	e.viewed = make(chan struct{})
	e.p = process.New(cfg.Process, 0, tr, host{e})
	e.done = e.p.Done
	if v := e.p.View(); v != nil {
		e.views = append(e.views, v)
	}
	e.safe.due.Store(cfg.Process.Heal || cfg.Process.Replacement)
	e.stopped.Add(1)
	go e.keep()
	return e
}

// Calls hears what the program calls, nil if nobody wants to know.
func (e *Engine) Calls() Calls { return e.cfg.Calls }

// Events brings what concerns the process as a whole. It is never closed.
func (e *Engine) Events() <-chan Event { return e.events }

// Views gives the views that have come into force here after that of a number, in
// order, and a channel that is closed when there is another one. Nobody may
// change what is returned.
func (e *Engine) Views(after uint64) (views []*membership.View, more <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := len(e.views)
	for i > 0 && e.views[i-1].Number > after {
		i--
	}
	return e.views[i:len(e.views):len(e.views)], e.viewed
}

// host puts what the process tells into the channel. Each death, loss and fence
// is told once and fits; an abort that doesn't is one of many.
type host struct{ e *Engine }

func (h host) put(ev Event) {
	select {
	case h.e.events <- ev:
	default:
	}
}

func (h host) Died(r detector.Report) { h.put(Event{Kind: Died, Report: r}) }
func (h host) RankLost(r proto.Rank)  { h.put(Event{Kind: RankLost, Rank: r}) }
func (h host) Fenced(by proto.Proc)   { h.put(Event{Kind: Fenced, By: by}) }
func (h host) Minority(gone []membership.Departure) {
	h.put(Event{Kind: Minority, View: h.e.p.View(), Gone: gone})
}
func (h host) Viewed(v *membership.View, coordinator bool) {
	h.e.views = append(h.e.views, v)
	close(h.e.viewed)
	h.e.viewed = make(chan struct{})
	h.put(Event{Kind: Viewed, View: v, Coordinator: coordinator})
}
func (h host) SafepointWanted(wanted bool) { h.e.safe.setDue(wanted || !h.e.safe.passed) }
func (h host) HealFailed(err error) {
	if h.e.cfg.HealFailed != nil {
		h.e.cfg.HealFailed(err)
	}
}
func (h host) Aborted(by proto.Proc, code int) { h.put(Event{Kind: Aborted, By: by, Code: code}) }

func (e *Engine) now() proto.Time { return proto.Time(time.Since(e.start)) }

// Layout is how many ranks the job has, and how many replicas those that have most.
func (e *Engine) Layout() (ranks, degree int) {
	l := e.cfg.Process.Layout
	return l.Ranks(), l.MaxDegree()
}

// SharesMemory tells whether ranks are on one host and read each other's memory, as far
// as is known: it's the same at all processes.
func (e *Engine) SharesMemory(ranks []proto.Rank) bool {
	return e.cfg.Process.SharedMemory && e.sameHost(ranks)
}

func (e *Engine) sameHost(ranks []proto.Rank) bool {
	hosts, l := e.cfg.Process.Hosts, e.cfg.Process.Layout
	if len(hosts) != l.Procs() {
		return false
	}
	for _, r := range ranks {
		if hosts[l.Proc(r, 0)] != hosts[l.Proc(ranks[0], 0)] {
			return false
		}
	}
	return true
}

// Oversubscribed tells whether ranks are on one host that has more processes than cores, as far
// as all of them know: it's the same at all of them, also if one of them does without shared
// memory.
func (e *Engine) Oversubscribed(ranks []proto.Rank) bool {
	return e.cfg.Oversubscribed && e.cfg.Agreed && e.sameHost(ranks)
}

// FramesSent is how many frames this process has sent, heartbeats and all.
func (e *Engine) FramesSent() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.p.FramesSent
}

// Fenced tells whether the job holds this process for dead.
func (e *Engine) Fenced() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.p.Fenced()
}

// Self is which process this is, and which rank.
func (e *Engine) Self() (proto.Proc, proto.Rank) { return e.cfg.Process.Self, e.p.Rank() }

// Evidence says that a process has certainly died, in its incarnations up to one.
func (e *Engine) Evidence(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Evidence(q, incarnation) })
}

// Excuse says that a process may be stopped by a debugger, or no longer.
func (e *Engine) Excuse(q proto.Proc, excused bool) {
	e.tell(func(p *process.Process) { p.Excuse(q, excused) })
}

// Left says that a process has left in order.
func (e *Engine) Left(q proto.Proc) { e.tell(func(p *process.Process) { p.Left(q) }) }

// Abort tells the other processes to end.
func (e *Engine) Abort(code int) {
	e.tell(func(p *process.Process) {
		p.Abort(code)
		e.tr.Drain(100 * time.Millisecond)
	})
}

// tell steps the process outside any wait, and wakes those whose wait it ended.
func (e *Engine) tell(step func(p *process.Process)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.p.At(e.now())
	step(e.p)
	if e.sleeping {
		e.tr.Wake()
	}
	e.rouse()
}

// Finish flushes what this process owes to others, waits until every live
// process has come as far, and ends the engine. It returns process.ErrFenced if
// the others have gone on without this one. A process.DivergedError says that this
// would wait for ever; then the engine goes on, so that the others can be told.
func (e *Engine) Finish() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
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

// Close ends the engine without a word to anyone. Whatever waits for it ends with
// process.ErrClosed.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.p.Close()
	close(e.stop)
	e.rouse()
	for e.sleeping { // nobody may be in the transport when it goes
		e.tr.Wake()
		e.slumber()
	}
	e.mu.Unlock()
	e.stopped.Wait()
	e.tr.Drain(time.Second)
	return e.tr.Close()
}
