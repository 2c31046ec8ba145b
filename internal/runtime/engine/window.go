package engine

import (
	"runtime"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// lockWait is a wait for a lock in memory that processes share.
type lockWait struct{ name, what string }

// Pauses between two looks at a lock: nothing tells a process that another one has unlocked.
const (
	lockSpins        = 50
	firstLockPause   = 20 * time.Microsecond
	longestLockPause = time.Millisecond
)

// AwaitLock calls try again and again until it returns true or an error, or the program may not use
// the context any more. Messages, deaths and heartbeats go on meanwhile. try is called with the
// engine's lock held and must not call the engine; lost tells it whether a rank is lost. name is
// the operation, and what it waits for.
func (e *Engine) AwaitLock(context uint64, name, what string, try func(lost func(proto.Rank) bool) (bool, error)) (err error) {
	wait := &lockWait{name, what}
	pause := firstLockPause
	e.lock()
	defer e.unlock()
	e.locking = append(e.locking, wait)
	for n := 0; ; n++ {
		if e.closed {
			err = process.ErrClosed
			break
		}
		if err = e.p.ContextError(context); err != nil {
			break
		}
		var done bool
		if done, err = try(e.p.RankLost); done || err != nil {
			break
		}
		if e.help(true) || e.step() > 0 {
			continue
		}
		e.unlock()
		if n < lockSpins && !e.cfg.oversubscribed() {
			runtime.Gosched()
		} else {
			time.Sleep(pause)
			pause = min(2*pause, longestLockPause)
		}
		e.lock()
	}
	for i := range e.locking {
		if e.locking[i] == wait {
			e.locking = append(e.locking[:i], e.locking[i+1:]...)
			break
		}
	}
	return err
}

// Lost tells whether a rank is lost.
func (e *Engine) Lost(r proto.Rank) bool {
	if !e.Disturbed() {
		return false
	}
	e.lock()
	defer e.unlock()
	return e.p.RankLost(r)
}
