package engine

import (
	"math/bits"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Some messages aren't for a receive of the program: a thread that polls, also the progress thread,
// has them heard as they come. So one-sided communication goes on while its target computes. Jobs
// without listeners pay one comparison a poll for them.

// HeardTag is the tag of messages that are heard.
const HeardTag = 0

// Listener hears messages. Its methods are called with the engine's lock held, and must not call
// the engine, but for the methods of the Ear.
type Listener interface {
	// Hear takes a message, or goes on with it, and tells whether it is through with it. If not it
	// is called again, soon. Messages of one rank are heard in the order of their sends, one at a
	// time. The data is valid until then.
	Hear(from proto.Rank, data []byte) (through bool)
	// Lost says that a rank is lost.
	Lost(r proto.Rank)
}

// Ear is where the messages of a context with the tag HeardTag are heard.
type Ear struct {
	e         *Engine
	context   uint64
	answering uint64 // in leader order: the context of answers (passive.go)
	wanted    bool   // the program waits for a step of its own
	stepping  bool   // it does one
	heard     bool   // in leader order: anything was
	listener  Listener
	arriving  []arriving // in the order of their sends, by rank
	answers   []answer
	spare     [spareClasses][][]byte // memory for messages and answers, by the logarithm of its size
	closed    bool                   // it stays until nothing is under way: what nobody takes would be unended for ever
}

// arriving is a message that is being received, or heard.
type arriving struct {
	from   proto.Rank
	handle Handle // the zero Handle: it is here
	data   []byte
}

// answer is a message under way that a listener has sent.
type answer struct {
	handle Handle
	data   []byte
}

// An Ear keeps the memory of small messages and answers, so that none is made for each.
const (
	spareClasses = 17      // up to 64 KiB
	mostSpare    = 1 << 20 // bytes of each, and at most so many
	mostSpares   = 512
)

// Buffer is memory for an answer of so many bytes, from within a Listener.
func (ear *Ear) Buffer(n int) []byte {
	class := bits.Len(uint(max(n, 1) - 1))
	if class >= spareClasses {
		return make([]byte, n)
	}
	list := &ear.spare[class]
	if last := len(*list) - 1; last >= 0 {
		b := (*list)[last]
		*list = (*list)[:last]
		return b[:n]
	}
	return make([]byte, n, 1<<class)
}

// release gives memory back that may be from Buffer.
func (ear *Ear) release(b []byte) {
	class := bits.Len(uint(max(cap(b), 1) - 1))
	if class < spareClasses && cap(b) == 1<<class && len(ear.spare[class]) < min(mostSpare>>class, mostSpares) {
		ear.spare[class] = append(ear.spare[class], b)
	}
}

// listening are the ears of an engine.
type listening struct {
	ears    []*Ear
	lost    []proto.Rank
	settled uint64 // Process.Changes when they listened last
	hushed  bool   // nothing is heard in leader order: a state is taken over
}

// Listen has the messages of a context heard from now on.
func (e *Engine) Listen(context uint64, l Listener) *Ear {
	e.lock()
	defer e.unlock()
	return e.listen(&Ear{e: e, context: context, listener: l})
}

func (e *Engine) listen(ear *Ear) *Ear {
	e.listening.ears = append(e.listening.ears, ear)
	e.listening.settled = e.p.Changes - 1 // some may have come
	return ear
}

// Close ends the listening.
func (ear *Ear) Close() {
	e := ear.e
	e.lock()
	defer e.unlock()
	ear.closed = true
	ear.hear()
	if ear.ordered() {
		e.p.EndPassive(ear.context)
	}
	e.listening.drop()
}

// drop forgets the ears that are closed and have nothing under way.
func (l *listening) drop() {
	l.ears = slices.DeleteFunc(l.ears, func(o *Ear) bool { return o.closed && o.Idle() })
}

// Send sends an answer, from within a Listener. The data belongs to the Ear from then on.
func (ear *Ear) Send(to proto.Rank, tag int32, data []byte) {
	e := ear.e
	context := ear.context
	if ear.ordered() {
		context = ear.answering
	}
	if h := e.send(context, to, tag, data); h != (Handle{}) {
		ear.answers = append(ear.answers, answer{h, data})
	} else {
		ear.release(data)
	}
}

// Idle tells whether no message is being received, and no answer is under way.
func (ear *Ear) Idle() bool { return len(ear.arriving)+len(ear.answers) == 0 }

// Lost tells whether a rank is lost, from within a Listener.
func (ear *Ear) Lost(r proto.Rank) bool { return ear.e.p.RankLost(r) }

// hear has everything heard that has come, and reports whether there is more to do at once. The
// lock is held.
func (e *Engine) hear() (more bool) {
	l := &e.listening
	if l.settled == e.p.Changes && len(l.lost) == 0 {
		return false
	}
	for len(l.lost) > 0 {
		r := l.lost[0]
		l.lost = l.lost[1:]
		for _, ear := range l.ears {
			if !ear.closed {
				ear.listener.Lost(r)
			}
		}
	}
	l.settled = e.p.Changes
	for _, ear := range l.ears {
		if ear.hear() {
			more = true
		}
	}
	l.drop()
	if more {
		l.settled = e.p.Changes - 1
	}
	e.rouse() // what was heard may be what a thread waits for
	return more
}

// hear goes on with one ear.
func (ear *Ear) hear() (more bool) {
	if ear.ordered() {
		return ear.hearInOrder()
	}
	p := ear.e.p
	for !ear.closed {
		message, s, ok := p.TakeArrived(ear.context, HeardTag)
		if !ok {
			break
		}
		data := ear.Buffer(s.Bytes)
		ear.arriving = append(ear.arriving, arriving{s.Source, p.ReceiveMatched(message, data), data})
	}
	kept := ear.arriving[:0]
	for _, a := range ear.arriving {
		if slices.ContainsFunc(kept, func(k arriving) bool { return k.from == a.from }) {
			kept = append(kept, a)
			continue
		}
		if a.handle != (Handle{}) {
			if !p.Done(a.handle) {
				kept = append(kept, a)
				continue
			}
			_, err := p.Take(a.handle)
			if a.handle = (Handle{}); err != nil {
				ear.release(a.data)
				continue // its sender is lost, or has withdrawn it
			}
		}
		if !ear.closed && !ear.listener.Hear(a.from, a.data) {
			kept, more = append(kept, a), true
			continue
		}
		ear.release(a.data)
	}
	clear(ear.arriving[len(kept):])
	ear.arriving = kept
	ear.endAnswers()
	return more
}

// endAnswers forgets the answers that have left.
func (ear *Ear) endAnswers() {
	p := ear.e.p
	ear.answers = slices.DeleteFunc(ear.answers, func(a answer) bool {
		if !p.Done(a.handle) {
			return false
		}
		p.Take(a.handle)
		ear.release(a.data)
		return true
	})
}

// Await waits until met returns true or an error, or the program may not use the context any more.
// It is for what listeners hear: met is called with the engine's lock held, when something has
// changed, and must not call the engine. lost tells it whether a rank is lost. name is the
// operation, and what it waits for: a message of from, whose end is an error, too.
func (e *Engine) Await(context uint64, from proto.Rank, name, what string, met func(lost func(proto.Rank) bool) (bool, error)) (err error) {
	wait := &lockWait{name, what}
	e.lock()
	defer e.unlock()
	e.locking = append(e.locking, wait)
	done := false
	e.probing(context, from, HeardTag, func() bool {
		if done, err = met(e.p.RankLost); !done && err == nil {
			err = e.p.ContextError(context)
		}
		if !done && err == nil && e.p.Forlorn() {
			err = e.p.Finished(from)
		}
		return done || err != nil
	})
	e.locking = slices.DeleteFunc(e.locking, func(w *lockWait) bool { return w == wait })
	if !done && err == nil {
		err = process.ErrClosed
	}
	return err
}

// Tell does what hears itself: f is called with the engine's lock held, and must not call the
// engine. It may be what a thread waits for in Await.
func (e *Engine) Tell(f func()) {
	e.lock()
	defer e.unlock()
	f()
	e.rouse()
	if e.waiting.sleeping {
		e.tr.Wake() // a thread that waits may sleep there
	}
}

// Nudge wakes the process of a rank, if it sleeps: in memory that both share there is something
// for it. For this process's own rank it wakes the threads that wait.
func (e *Engine) Nudge(r proto.Rank) {
	e.lock()
	defer e.unlock()
	switch {
	case e.closed || e.p.RankLost(r):
	case r == e.p.Rank():
		e.nudged()
	default:
		e.p.Nudge(r)
	}
}

// Look makes progress once, unless met returns true, and returns the last answer of met, which is
// as Await has it, and changes nothing. In leader order the leader decides it.
func (e *Engine) Look(met func(lost func(proto.Rank) bool) (bool, error)) (is bool, err error) {
	e.lock()
	defer e.unlock()
	if e.led {
		have := func() uint64 {
			is, err = met(e.p.RankLost)
			return truth(is || err != nil)
		}
		if e.answer(process.AskEnded, false, have) == 0 {
			return false, nil
		}
		e.until(func() bool { return have() != 0 })
		return is, err
	}
	if is, err = met(e.p.RankLost); !is && err == nil {
		e.try()
		is, err = met(e.p.RankLost)
	}
	return is, err
}
