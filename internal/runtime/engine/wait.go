package engine

import (
	"time"

	"banyan/internal/proto"
)

const (
	// clockEvery is how many polls share a look at the clock.
	clockEvery = 8
	// workEvery is how many busy polls may pass without Process.Work.
	workEvery = 32
)

// step moves everything once and returns how much moved. Whoever sleeps while
// another polls is woken if it may be what they wait for. The lock is held.
func (e *Engine) step() int {
	before := e.p.Changes
	n := e.tr.Poll(e.p)
	e.polls++
	if n == 0 || e.polls%workEvery == 0 {
		if e.p.Work() {
			n++
		}
	}
	if e.polls%clockEvery == 0 {
		e.tick()
	}
	if len(e.schedules) > 0 && e.p.Changes != e.settled {
		e.runSchedules()
	}
	if e.p.Changes != before {
		e.rouse()
	}
	return n
}

// tick looks at the clock. The lock is held.
func (e *Engine) tick() {
	now := e.now()
	e.p.At(now)
	if now < e.p.Deadline() {
		return
	}
	if q := e.p.Doubtful(); q != proto.NoProc {
		e.doubt(q)
	}
	e.p.Tick()
}

// doubt looks twice at a process that is about to be taken for dead. What it has sent may
// be here and unread, since this process has slept; or it may be starved.
func (e *Engine) doubt(q proto.Proc) {
	for range readBeforeDoubt {
		if e.tr.Poll(e.p) == 0 || e.p.Doubtful() != q {
			break
		}
	}
	e.rouse() // something may have come for those who sleep
	if e.cfg.Starved != nil && e.p.Doubtful() == q && e.cfg.Starved(q) {
		e.p.Bear(q)
	}
}

// readBeforeDoubt bounds how often what has come is read before a process is
// taken for dead: others may send without end.
const readBeforeDoubt = 100

// until makes progress until met says so, or the engine is closed. The lock is
// held, but given up again and again.
func (e *Engine) until(met func() bool) {
	if met() || e.closed {
		return
	}
	e.alongside()
	e.waiters++
	for idle := 0; ; {
		if len(e.lent) > 0 && e.help(true) || e.step() > 0 {
			idle = 0
		} else if idle++; !e.linger(idle) {
			e.block()
		}
		if met() || e.closed {
			break
		}
	}
	e.waiters--
	if e.waiters > 0 {
		e.rouse() // one of them polls on
	}
}

// alongside notes that a thread waits or looks while another waits.
func (e *Engine) alongside() {
	if e.waiters > 0 {
		e.p.Concurrent()
	}
}

// slumber waits until another goroutine has something to tell; rouse tells. The lock is held.
func (e *Engine) slumber() {
	e.slumbering++
	e.awake.Wait()
	e.slumbering--
}

func (e *Engine) rouse() {
	if e.slumbering > 0 {
		e.awake.Broadcast()
	}
}

// block sleeps until something may have happened.
func (e *Engine) block() {
	e.p.Stalled()
	if e.sleeping {
		if e.progressThreadSleeps {
			e.tr.Wake() // the waiter polls better than the progress thread
		}
		e.slumber()
		return
	}
	e.sleep(e.tr.Wait, e.untilDeadline())
}

// sleep blocks in the transport, by its Wait or doze. The lock is given up
// meanwhile.
func (e *Engine) sleep(wait func(time.Duration), limit time.Duration) {
	e.sleeping = true
	e.mu.Unlock()
	wait(limit)
	e.mu.Lock()
	e.sleeping = false
	if !e.closed {
		e.tick()
	}
	e.rouse() // one of the others sleeps here next
}

// untilDeadline is how long nothing needs to be done.
func (e *Engine) untilDeadline() time.Duration {
	return max(0, time.Duration(min(e.p.Deadline()-e.now(), 1e9)))
}

// keep is the progress thread: it looks every progressThreadTick whether the program makes
// progress, and makes it in the program's place where not.
func (e *Engine) keep() {
	defer e.stopped.Done()
	timer := time.NewTicker(progressThreadTick)
	defer timer.Stop()
	var seen uint64
	for {
		select {
		case <-e.stop:
			return
		case <-timer.C:
		}
		if !e.mu.TryLock() {
			continue // the program is in a call
		}
		if e.polls == seen && !e.sleeping && !e.closed {
			e.takeOver()
			timer.Reset(progressThreadTick) // a tick that came meanwhile would find that nobody has polled since
		}
		seen = e.polls
		e.mu.Unlock()
	}
}

// progressThreadTick bounds how long nobody makes progress when the program turns from
// communicating to computing.
const progressThreadTick = 2 * time.Millisecond

// takeOver makes progress until the program does again.
func (e *Engine) takeOver() {
	for !e.closed {
		for (e.step() > 0 || e.help(false)) && e.waiters == 0 && !e.closed {
			e.mu.Unlock() // between steps the program may come in
			e.mu.Lock()
		}
		e.tick()
		if e.waiters > 0 || e.closed {
			return
		}
		mine := e.polls
		e.progressThreadSleeps = true
		e.sleep(e.doze, e.untilDeadline())
		e.progressThreadSleeps = false
		if e.waiters > 0 || e.polls != mine {
			return
		}
	}
}
