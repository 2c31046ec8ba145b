package engine

import (
	"errors"
	"slices"

	"banyan/internal/runtime/process"
)

// In leader order the messages of a window are heard in the order that the leader of the rank
// decides, one after the other, and the program's own steps have their place in it (package
// passive). Each is heard as a whole before the next one. So what the listener does is the same in
// all replicas.
//
// Answers go out on a context of their own, since messages of a context are numbered in the order
// of their sends, and the program sends on the other one at times of its own.

// ordered tells whether the replicas of this rank hear in the order that its leader decides.
func (ear *Ear) ordered() bool { return ear.answering != 0 }

// ListenInOrder is Listen for a window in leader order: answers are sent on another context. All
// replicas of the rank call it at the same place of their program. A rank that has one replica
// calls it, too.
func (e *Engine) ListenInOrder(context, answers uint64, l Listener) *Ear {
	e.lock()
	defer e.unlock()
	e.p.BeginPassive()
	return e.listen(&Ear{e: e, context: context, answering: answers, listener: l})
}

// hearInOrder goes on with an ear in leader order.
func (ear *Ear) hearInOrder() (more bool) {
	p := ear.e.p
	for !ear.closed && !ear.stepping && !ear.e.listening.hushed {
		if len(ear.arriving) == 0 {
			if ear.wanted && ear.mayStep() {
				break // else the program could wait for ever while others ask and ask
			}
			message, s, ok := p.TakePassive(ear.context, HeardTag)
			if !ok {
				break
			}
			ear.heard = true
			data := ear.Buffer(s.Bytes)
			ear.arriving = append(ear.arriving, arriving{s.Source, p.ReceiveMatched(message, data), data})
		}
		a := &ear.arriving[0]
		if a.handle != (Handle{}) {
			if !p.Done(a.handle) {
				break
			}
			_, err := p.Take(a.handle)
			if a.handle = (Handle{}); err != nil { // its sender is lost
				ear.heardFirst()
				continue
			}
		}
		if !ear.listener.Hear(a.from, a.data) {
			more = true
			break
		}
		ear.heardFirst()
	}
	ear.endAnswers()
	return more
}

// mayStep tells whether the program's own step may be next.
func (ear *Ear) mayStep() bool {
	ok, err := ear.e.p.MayStep(ear.context)
	return ok && err == nil
}

// heardFirst forgets the message that was heard.
func (ear *Ear) heardFirst() {
	ear.release(ear.arriving[0].data)
	ear.arriving[0] = arriving{}
	ear.arriving = ear.arriving[:0]
}

// Step waits for the place of the program's own step among what is heard, and does it there:
// nothing is heard meanwhile. last says that nothing is heard behind it. name is the operation. The
// error says that the program can't go on.
func (ear *Ear) Step(name string, last bool, do func()) (err error) {
	e := ear.e
	wait := &lockWait{name, "for its place among what other ranks ask of its part"}
	e.lock()
	defer e.unlock()
	e.locking = append(e.locking, wait)
	ok := false
	ear.wanted = true
	e.until(func() bool {
		if len(ear.arriving) == 0 {
			ok, err = e.p.MayStep(ear.context)
		}
		return ok || err != nil || e.p.Fenced()
	})
	ear.wanted = false
	e.locking = slices.DeleteFunc(e.locking, func(w *lockWait) bool { return w == wait })
	switch {
	case err != nil:
		e.unfollowed(err)
		return err
	case !ok:
		return process.ErrClosed
	}
	e.p.OwnStep(ear.context)
	ear.stepping, ear.closed = true, last
	e.outside(do)
	ear.stepping = false
	e.listening.settled = e.p.Changes - 1
	e.hear() // what waits behind this step may be here
	return nil
}

// errHeard is why this process's state can't be given away, nor captured.
var errHeard = errors.New("others have locked or accessed its part of a window that isn't freed (leader order): a replacement, or a snapshot, would lack that")

// unheard is that error, or nil. What others have asked of a part is no state that can be given, so
// a process that has heard anything isn't a donor until the window is freed.
func (e *Engine) unheard() error {
	for _, ear := range e.listening.ears {
		if ear.heard && !ear.closed {
			return errHeard
		}
	}
	return nil
}

// hushed has nothing heard in leader order while f runs, which takes over a state.
func (e *Engine) hushed(f func() error) error {
	e.listening.hushed = true
	defer func() {
		e.listening.hushed, e.listening.settled = false, e.p.Changes-1
	}()
	return f()
}

// LedJob tells whether leaders decide what timing decides in this job, where ranks have replicas.
func (e *Engine) LedJob() bool { return e.cfg.Process.Leader }

// HearsInOrder says that replicas of this rank can hear in the order that one of them decides, as
// ListenInOrder needs it, or that it has one replica in such a job. Threads that communicate at the
// same time rule it out.
func (e *Engine) HearsInOrder() bool {
	cfg := &e.cfg.Process
	return cfg.Leader && !e.orders && (e.led || cfg.Layout.Degree(e.p.Rank()) == 1)
}
