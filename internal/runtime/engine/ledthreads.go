package engine

import (
	"errors"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Threads in leader order (package process, ledthreads.go): each has a log of its own, and what
// threads do on a communicator takes effect in the order in which it did at the leader. A thread
// that acts waits for its turn, and acts before it gives the lock up.

// Threads knows the threads of a program by names that are the same in all replicas.
type Threads interface {
	// Present is the thread that makes the present call, on that thread. known is false if it has
	// no name.
	Present() (id process.ThreadID, known bool)
	// Living are the threads with names that haven't ended.
	Living() []LivingThread
	// SetCreated says how many threads one of them has created. known is false if there is no such
	// thread.
	SetCreated(t LivingThread) (known bool)
}

// LivingThread is a thread that hasn't ended, and how many threads it has created: the name of the
// next one follows from that.
type LivingThread struct {
	ID      process.ThreadID
	Created uint64
}

// errUnnamed ends a program that can't be led.
var errUnnamed = errors.New("a thread communicates that leader order (--order leader) can't tell from others: it knows threads by who created them, with pthread_create, in a program that the library is linked to")

// OrderThreads says, before the program communicates, that several of its threads will communicate
// at the same time. It reports whether leader order can order them: it must know their names.
func (e *Engine) OrderThreads() bool {
	e.lock()
	defer e.unlock()
	if e.orders = e.led && e.cfg.Threads != nil; e.orders {
		e.p.OrderThreads()
	}
	return e.orders
}

// thread is the program's thread that makes this call, if it matters.
func (e *Engine) thread() process.ThreadID {
	if !e.orders {
		return 0
	}
	id, known := e.cfg.Threads.Present()
	if !known {
		e.unfollowed(errUnnamed)
	}
	return id
}

// on says whose call it is that the lock is held for, before each step for it.
func (e *Engine) on(t process.ThreadID) {
	if e.orders {
		e.p.On(t)
	}
}

// turn waits for the thread's turn on a context, and takes it. Contexts with odd numbers are those
// of collectives, which threads don't share.
func (e *Engine) turn(context uint64) {
	if context%2 == 1 {
		return
	}
	t := e.thread()
	e.until(func() bool {
		e.p.On(t)
		return e.p.MayAct(context)
	})
	if !e.closed {
		e.act(t, context)
	}
}

// act takes a thread's turn. If the turns are known, another thread may wait for the next one.
func (e *Engine) act(t process.ThreadID, context uint64) {
	e.p.On(t)
	if e.p.Act(context) {
		e.passTurn()
	}
}

// passTurn wakes the threads that wait, of which one may be next.
func (e *Engine) passTurn() {
	if e.waiting.sleeping {
		e.tr.Wake()
	}
	e.rouse()
}

// probeThreaded is probeLed where threads are ordered. To find a message is to act.
func (e *Engine) probeThreaded(context uint64, src proto.Rank, tag int32, waits, takes bool) (message Handle, s Status, ok bool, err error) {
	t := e.thread()
	find := func() bool {
		if takes {
			message, s, ok, err = e.p.MatchedProbe(context, src, tag)
		} else {
			s, ok, err = e.p.Probe(context, src, tag)
		}
		return ok || err != nil
	}
	if !waits || src == proto.AnyRank || tag == proto.AnyTag {
		found, here := e.probeAnswer(t, context, src, tag, waits)
		if found == 0 {
			return message, s, false, nil
		}
		src, tag = process.MessageFound(found)
		if here {
			find()
			return message, s, ok, err
		}
	}
	e.probing(context, src, tag, func() bool {
		e.p.On(t)
		return e.p.MayAct(context) && !e.p.HoldsBack(context, src, tag) && find()
	})
	if ok {
		e.act(t, context)
	}
	return message, s, ok, err
}

// probeAnswer is the answer to a probe: the message that it finds, or 0. If it was found here, it
// is taken next.
func (e *Engine) probeAnswer(t process.ThreadID, context uint64, src proto.Rank, tag int32, waits bool) (word uint64, here bool) {
	e.p.Asks(process.AskProbe)
	e.p.StartProbe(context, src, tag)
	defer e.p.EndProbe(context, src, tag)
	look := func() bool {
		e.p.On(t)
		if !e.p.MayAct(context) {
			return false
		}
		if s, ok, err := e.p.Probe(context, src, tag); ok {
			word = process.FoundMessage(s.Source, s.Tag)
		} else if err != nil {
			word = process.FoundMessage(src, tag)
		}
		return word != 0
	}
	e.until(func() bool {
		e.p.On(t)
		return e.p.HasAnswer() || e.p.Decides() && (!waits || look()) || e.p.Fenced()
	})
	e.p.On(t)
	if e.p.HasAnswer() {
		word, err := e.p.NextAnswer(process.AskProbe)
		if err != nil {
			e.unfollowed(err)
		}
		return word, false
	}
	if !waits && !look() {
		e.try()
		e.lookOrRest(func() uint64 {
			look()
			return word
		})
	}
	e.p.On(t)
	switch {
	case e.closed:
	case word == 0:
		e.p.Answer(process.AskProbe, 0)
	default:
		if e.p.AnswerFound(context, word) {
			e.passTurn()
		}
	}
	return word, true
}

const (
	// vainlyAtOnce is how many looks in vain in a row cost no rest.
	vainlyAtOnce = 20
	// vainRest is how long a thread rests then.
	vainRest = 200 * time.Microsecond
)

// lookOrRest looks. Where threads are ordered and several looks in a row were in vain it rests
// before: each answer is repeated at the siblings, whose threads wait for each other meanwhile,
// and which would fall behind without bound. The lock is held, but given up meanwhile.
func (e *Engine) lookOrRest(look func() uint64) (word uint64) {
	if word = look(); !e.orders || word != 0 {
		e.vain = 0
		return word
	}
	if e.vain++; e.vain <= vainlyAtOnce || e.closed {
		return 0
	}
	e.mu.Unlock()
	time.Sleep(vainRest)
	e.lock()
	return look()
}
