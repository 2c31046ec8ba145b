package engine

import (
	"sync"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
)

// waiting is what the engine knows of its threads that wait.
type waiting struct {
	awake                   sync.Cond // signalled when a request ended, or when the sleeper woke
	polls                   uint64    // steps that anyone has taken
	threads                 int       // in until; a progress thread that rests counts as one
	slumbering              int       // of them, and of those in Close: waiting for awake
	sleeping                bool      // some goroutine is in Transport.Wait
	sleeperIsProgressThread bool
	resting                 bool          // the progress thread rests until a wait has ended
	rested                  chan struct{} // ends its rest
}

const (
	// clockEvery is how many polls share a look at the clock.
	clockEvery = 8
	// workEvery is how many busy polls may pass without Process.Work.
	workEvery = 32
)

// step moves everything once and returns how much moved. If that may have ended a wait, it wakes
// the threads that sleep. The lock is held.
func (e *Engine) step() int {
	before := e.p.Changes
	n := e.tr.Poll(e.p)
	e.waiting.polls++
	if n == 0 || e.waiting.polls%workEvery == 0 {
		if e.p.Work() {
			n++
		}
	}
	if e.waiting.polls%clockEvery == 0 {
		e.tick()
	}
	if len(e.running.schedules) > 0 && e.p.Changes != e.running.settled {
		e.runSchedules()
		n++ // also if no frame has come: a step may be due that needs no lock
	}
	if len(e.listening.ears) > 0 && e.hear() {
		n++
	}
	if e.p.Changes != before {
		e.rouse()
	}
	if n > 0 && len(e.sharing)+len(e.locking) > 0 {
		e.nudged()
	}
	return n
}

// tick looks at the clock. The lock is held.
func (e *Engine) tick() {
	now := e.now()
	e.p.At(now)
	e.reopen()
	if now < e.p.Deadline() {
		return
	}
	if q := e.p.Doubtful(); q != proto.NoProc {
		e.doubt(q)
	}
	e.p.Tick()
	if q := e.p.Overdue(); q != proto.NoProc && e.cfg.Starved != nil {
		e.cfg.Starved(q) // it compares with its last look: so doubt finds it with one
	}
	e.count()
}

// doubt looks twice before a silent process counts as dead. Its frames may have arrived while this
// process slept, and be unread; or the process may want to run and get no core.
func (e *Engine) doubt(q proto.Proc) {
	for range readBeforeDoubt {
		if e.tr.Poll(e.p) == 0 || e.p.Doubtful() != q {
			break
		}
	}
	e.rouse() // something may have come for a thread that sleeps
	if e.cfg.Starved != nil && e.p.Doubtful() == q && e.cfg.Starved(q) {
		e.p.Bear(q)
	}
}

// readBeforeDoubt bounds how often the engine polls before a process counts as dead: others may
// send without end.
const readBeforeDoubt = 100

// until makes progress until met returns true, or the engine is closed. The lock is held, but
// given up again and again.
func (e *Engine) until(met func() bool) { e.wait(met, 0) }

// impatient waits have spent their patience elsewhere, in C.
const impatient = 1 << 30

// wait is until with a patience that is partly spent: by so many polls in vain.
func (e *Engine) wait(met func() bool, spent int) {
	if met() || e.closed {
		return
	}
	e.alongside()
	e.waiting.threads++
	e.attend()
	if r := e.recorder; r != nil && e.waiting.waiters() == 1 {
		r.Waits()
	}
	var long longWait
	for idle := spent; ; {
		if len(e.running.lent) > 0 && e.help(true) || e.step() > 0 {
			idle = spent
		} else if idle++; !e.linger(idle) {
			e.block()
			if e.reporting.report != nil {
				e.reportWait(&long)
			}
			if e.p.Forlorn() && e.p.GiveUp(met) {
				break
			}
		}
		if met() || e.closed {
			break
		}
	}
	e.leave()
	e.waiting.threads--
	if r := e.recorder; r != nil && e.waiting.waiters() == 0 {
		r.Resumes()
	}
	if e.waiting.threads > 0 {
		e.passOn()
	}
}

// passOn leaves the polling to the progress thread, if that rests, and to the other threads that
// wait.
func (e *Engine) passOn() {
	e.unrest()
	e.rouse()
}

// alongside tells the process if a thread begins to send, wait or test while another one waits.
func (e *Engine) alongside() {
	if e.waiting.threads > 0 {
		e.joins()
	}
}

// joins is alongside's less frequent part.
func (e *Engine) joins() {
	if e.waiting.waiters() > 0 {
		e.p.Concurrent()
		if e.p.Begun() && !e.orders {
			e.unfollowed(errThreads)
		}
	}
}

// waiters is how many threads of the program are in until.
func (w *waiting) waiters() int {
	if w.resting {
		return w.threads - 1
	}
	return w.threads
}

// slumber waits until another goroutine calls rouse. The lock is held.
func (e *Engine) slumber() {
	e.leaveToThreads()
	e.waiting.slumbering++
	e.waiting.awake.Wait()
	e.waiting.slumbering--
	e.postNoted()
}

func (e *Engine) rouse() {
	if e.waiting.slumbering > 0 {
		e.waiting.awake.Broadcast()
	}
}

// block sleeps until something may have happened.
func (e *Engine) block() {
	e.p.Stalled()
	e.p.Sleep(true)
	defer e.p.Sleep(false)
	if e.waiting.sleeping || e.servedInC() {
		if e.waiting.sleeperIsProgressThread {
			e.tr.Wake() // a waiter answers sooner than the progress thread: let it poll
		}
		e.slumber()
		return
	}
	wait := e.tr.Wait
	if e.waiting.resting {
		wait = e.doze // this wait is a long one
	}
	e.sleep(wait, e.untilDeadline())
}

// sleep blocks in the transport, by its Wait or by doze, and gives up the lock meanwhile.
func (e *Engine) sleep(wait func(time.Duration), limit time.Duration) {
	e.waiting.sleeping = true
	if e.waiting.sleeperIsProgressThread {
		e.unlock() // the program may come in
	} else {
		e.leaveToThreads()
		e.mu.Unlock()
	}
	wait(limit)
	e.lock()
	e.waiting.sleeping = false
	if !e.closed {
		e.tick()
	}
	e.rouse() // one of the others sleeps here next
}

// untilDeadline is how long nothing needs to be done.
func (e *Engine) untilDeadline() time.Duration {
	limit := proto.Time(1e9)
	if r := e.reporting; r.report != nil {
		limit = min(limit, proto.Time(r.after))
	}
	return max(0, time.Duration(min(e.p.Deadline()-e.now(), limit)))
}

// keep is the progress thread. At every tick it looks whether the program makes progress; if not,
// it does so itself. While the program sleeps in a wait it rests.
func (e *Engine) keep() {
	defer e.stopped.Done()
	timer := time.NewTimer(progressTick)
	defer timer.Stop()
	var seen uint64
	for {
		select {
		case <-e.stop:
			return
		case <-timer.C:
		}
		e.shared.Closed.Or(lane.Tick)
		if !e.mu.TryLock() { // the program is in a call
			timer.Reset(progressTick)
			continue
		}
		switch {
		case e.polls() != seen || e.closed:
		case !e.waiting.sleeping:
			e.takeOver()
		case e.waiting.threads > 0:
			e.rest()
		}
		e.count()
		seen = e.polls()
		timer.Reset(e.nextTick())
		e.unlock()
	}
}

// nextTick is how long the progress thread leaves the program alone. The lock is held.
func (e *Engine) nextTick() time.Duration {
	if !e.cfg.oversubscribed() {
		return progressTick
	}
	return min(max(progressTick, e.untilDeadline()), sharedTick)
}

// rest waits until a thread that waits has what it waits for. Until then that thread makes the
// progress: it wakes for each frame, and for the heartbeats. To tick beside it cost a rank that
// waited fifteen times as much as all else, and hundreds of waiting ranks on two cores left no
// time for those that they waited for. The lock is held, but given up meanwhile.
func (e *Engine) rest() {
	e.p.Watch()
	e.waiting.resting = true
	e.waiting.threads++ // so that the end of until, which is on the path of messages, looks at one word
	e.mu.Unlock()
	select {
	case <-e.stop:
	case <-e.waiting.rested:
	}
	e.lock()
	e.unrest()
	select {
	case <-e.waiting.rested:
	default:
	}
}

// unrest ends the progress thread's rest.
func (e *Engine) unrest() {
	if e.waiting.resting {
		e.waiting.resting = false
		e.waiting.threads--
		e.waiting.rested <- struct{}{} // there is room: it is taken out at the end of each rest
	}
}

// How long nothing makes progress when the program turns from communicating to computing:
// progressTick, or sharedTick where processes share cores. There a tick ends the time slice of a
// process that computes, and the next one fills the core's cache with its own data: with ticks of
// 2 ms NPB's CG took a sixth more time. What waits for the process waits for time slices anyway.
const (
	progressTick = 2 * time.Millisecond
	sharedTick   = 10 * time.Millisecond
)

// takeOver makes progress until the program does so again.
func (e *Engine) takeOver() {
	e.postNoted()
	for !e.closed {
		for (e.step() > 0 || e.help(false)) && e.waiting.threads == 0 && !e.closed {
			mine := e.polls()
			e.unlock() // between steps the program may come in
			e.lock()
			if e.polls() != mine {
				return
			}
		}
		e.tick()
		if e.waiting.threads > 0 || e.closed {
			e.rouse() // one of those that left the polling to C polls next
			return
		}
		mine := e.polls()
		e.waiting.sleeperIsProgressThread = true
		e.sleep(e.doze, e.untilDeadline())
		e.waiting.sleeperIsProgressThread = false
		if e.waiting.threads > 0 || e.polls() != mine {
			return
		}
	}
}
