package engine

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Calls in leader order: what timing decides, the leading replica of the rank decides, and its
// siblings wait to hear of it (package process, order.go). All replicas ask the same questions in
// the same order. Where an answer is that an operation has ended, or that a message is here, a
// sibling may have to wait for it: it comes.

// errThreads ends a program that can't be led.
var errThreads = errors.New("several threads of the program communicate at the same time, which it hasn't asked for: leader order (--order leader) orders the threads of programs in C that ask for MPI_THREAD_MULTIPLE; goroutines communicate one at a time")

// orderOf prepares the order of a rank for New: FirstDecision, which the process calls on the
// thread of the call, is told where the program makes it.
func (e *Engine) orderOf(cfg *process.Config) {
	told := e.cfg.FirstDecision
	if !cfg.Auto || told == nil {
		return
	}
	cfg.FirstDecision = func(call string) {
		where := ""
		if e.cfg.Where != nil {
			where = e.cfg.Where()
		}
		told(call, where)
		if e.p.Threaded() {
			e.unfollowed(errThreads)
		}
	}
}

// StayFree keeps a rank in free order that is to be led from its first call on that timing can
// decide; see process.Process.StayFree.
func (e *Engine) StayFree() {
	e.lock()
	defer e.unlock()
	if e.p.StayFree() {
		e.led = false
	}
}

// unfollowed ends a replica that can't go on as its leader does. The lock is held, but given up
// meanwhile.
func (e *Engine) unfollowed(err error) {
	e.Located(err)
	if e.cfg.Unfollowed != nil {
		e.mu.Unlock()
		e.cfg.Unfollowed(err)
		e.lock()
	}
}

// Led tells whether a replica of this rank decides what timing decides. Then questions of timing go
// through Decide.
func (e *Engine) Led() bool { return e.led }

// answer is the answer to a question. The replica that leads looks for one that isn't 0: once, or,
// if it waits, until there is one. The lock is held.
func (e *Engine) answer(q process.Question, waits bool, look func() uint64) (word uint64) {
	t := e.thread()
	e.p.Asks(q)
	e.until(func() bool {
		e.on(t)
		return e.p.HasAnswer() || e.p.Decides() || e.p.Fenced()
	})
	e.on(t)
	if e.p.HasAnswer() {
		word, err := e.p.NextAnswer(q)
		if err != nil {
			e.unfollowed(err)
		}
		return word
	}
	if word = look(); word == 0 {
		if waits {
			e.until(func() bool {
				word = look()
				return word != 0
			})
		} else {
			e.try()
			word = e.lookOrRest(look)
		}
	}
	if e.on(t); !e.closed {
		e.p.Answer(q, word)
	}
	return word
}

// Decide answers a question about operations; see answer. look asks done which have ended. It is
// called with the lock held and must not call the engine.
func (e *Engine) Decide(waits bool, look func(done func(Handle) bool) uint64) uint64 {
	e.lock()
	defer e.unlock()
	return e.answer(process.AskEnded, waits, func() uint64 { return look(e.done) })
}

// Value is what the value is at all replicas of the rank: what one of them computes, without the
// engine.
func (e *Engine) Value(compute func() uint64) uint64 {
	e.lock()
	defer e.unlock()
	if !e.led {
		return compute()
	}
	return e.valueOf(process.AskValue, compute)
}

// valueOf asks for a value, which may be 0. The lock is held.
func (e *Engine) valueOf(q process.Question, compute func() uint64) uint64 {
	word, computed := uint64(0), false
	return e.answer(q, false, func() uint64 {
		if !computed {
			word, computed = compute(), true
		}
		return word
	})
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// testLed is Test.
func (e *Engine) testLed(h Handle) (s Status, done bool, err error) {
	if e.answer(process.AskEnded, false, func() uint64 { return truth(e.p.Done(h)) }) == 0 {
		return s, false, nil
	}
	e.until(func() bool { return e.p.Done(h) })
	s, err = e.take(h)
	return s, true, err
}

// anyLed is WaitAny, or TestAny.
func (e *Engine) anyLed(hs []Handle, waits bool) (found int, s Status, err error) {
	found = int(e.answer(process.AskEnded, waits, func() uint64 { return uint64(e.firstDone(hs) + 1) })) - 1
	switch {
	case found >= 0 && found < len(hs):
	case waits: // closed
		found = 0
	default:
		return -1, s, nil
	}
	e.until(func() bool { return e.p.Done(hs[found]) })
	s, err = e.take(hs[found])
	return found, s, err
}

// probeLed is all kinds of probes. One that waits for a message with a certain source and tag
// finds the same one at all replicas, whatever the timing.
func (e *Engine) probeLed(context uint64, src proto.Rank, tag int32, waits, takes bool) (message Handle, s Status, ok bool, err error) {
	if e.orders {
		return e.probeThreaded(context, src, tag, waits, takes)
	}
	if !waits || src == proto.AnyRank || tag == proto.AnyTag {
		e.p.StartProbe(context, src, tag)
		found := e.answer(process.AskProbe, waits, func() uint64 {
			var word uint64
			if s, ok, err = e.p.Probe(context, src, tag); ok {
				word = process.FoundMessage(s.Source, s.Tag)
			} else if err != nil {
				word = process.FoundMessage(src, tag)
			}
			return word
		})
		e.p.EndProbe(context, src, tag)
		if found == 0 || err != nil {
			return message, s, false, err
		}
		src, tag = process.MessageFound(found)
	}
	e.probing(context, src, tag, func() bool {
		if e.p.HoldsBack(context, src, tag) {
			return false
		}
		if takes {
			message, s, ok, err = e.p.MatchedProbe(context, src, tag)
		} else {
			s, ok, err = e.p.Probe(context, src, tag)
		}
		return ok || err != nil
	})
	return message, s, ok, err
}

// cancelLed is Cancel.
func (e *Engine) cancelLed(h Handle) bool {
	cancelled := e.answer(process.AskCancel, false, func() uint64 { return truth(e.p.Cancel(h)) }) != 0
	if err := e.p.CancelDecided(h, cancelled); err != nil {
		e.unfollowed(err)
	}
	return cancelled
}
