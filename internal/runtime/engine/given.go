package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Give adds a send to a schedule that was started and hasn't ended, with a tag counted from the
// schedule's. The schedule waits for so many of them (Schedule.Given), which threads may give in
// any order. The data must not change before the schedule has ended.
func (e *Engine) Give(s *Schedule, to proto.Rank, tag int32, data []byte) {
	e.lock()
	defer e.unlock()
	if s.ended || e.closed {
		return
	}
	e.p.Resume(s.handle)
	s.under = append(s.under, operation{e.send(s.Context, to, s.Tag+tag, data), s.sent()})
	e.p.Suspend()
	s.given++
	e.advance(s)
	if s.ended && e.waiting.sleeping {
		e.tr.Wake() // a thread that waits for the schedule may sleep there
	}
	e.rouse()
}

// Arrived tells whether the operations first to last-1 that a schedule starts have ended, or all of
// it, or it was never started. It makes progress, if that isn't so. In leader order one replica of
// the rank decides the answer. The error is that of the schedule, if it has failed: then nothing
// more is to come.
func (e *Engine) Arrived(s *Schedule, first, last int) (bool, error) {
	e.lock()
	defer e.unlock()
	have := func() uint64 { return truth(s.ended || s.handle == Handle{} || e.through(s, first, last)) }
	if e.led {
		if e.answer(process.AskEnded, false, have) == 0 {
			return false, nil
		}
		e.until(func() bool { return have() != 0 })
		return true, s.err
	}
	if have() == 0 {
		e.try()
	}
	return have() != 0, s.err
}

// through tells whether the operations first to last-1 of a schedule have been started and have
// ended. The lock is held.
func (e *Engine) through(s *Schedule, first, last int) bool {
	if last > len(s.under) {
		return false
	}
	for _, o := range s.under[max(first, s.oldest):max(last, s.oldest)] {
		if !e.p.Done(o.handle) {
			return false
		}
	}
	return true
}
