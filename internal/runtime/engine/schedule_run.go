package engine

import (
	"errors"

	"banyan/internal/runtime/process"
)

// running are the schedules that run.
type running struct {
	schedules []*Schedule
	lent      []*Schedule // of those, the ones with a step due that needs no lock
	settled   uint64      // Process.Changes when the schedules were looked at last
}

// runState is how far a schedule has come.
type runState struct {
	handle  Handle
	next    int         // the step that is due
	under   []operation // those that were started, in their order
	oldest  int         // the first of under that hasn't ended
	given   int         // sends that the program has given
	taken   int         // bytes that the last TakeTagged has received
	err     error       // the first error
	broken  bool        // after err there is no point in going on
	lent    bool        // a step that needs no lock is due, or being run
	oneTime bool        // Released is to be called
	ended   bool
	behind  *Schedule // the next in its lane
}

// operation is a send, receive or broadcast of a schedule.
type operation struct {
	handle Handle
	size   int // bytes that must have been received; for other operations, a constant below
}

const (
	unsized = -1
	spread  = -2 // the loss of the receiver is no error
	upTo    = -3 // the size goes to taken
)

// Lane is a queue of schedules of which one runs at a time. The zero Lane is empty.
type Lane struct {
	first, last *Schedule
}

// Run carries a schedule out and waits for its end.
func (e *Engine) Run(s *Schedule) error {
	e.lock()
	if s.large {
		e.attend()
	}
	h := e.begin(s, false)
	if !s.ended {
		e.until(func() bool { return s.ended })
	}
	if s.large {
		e.leave()
	}
	err := s.err
	switch {
	case !s.ended:
		err = process.ErrClosed
	case h != Handle{}:
		_, err = e.take(h)
	}
	e.unlock()
	return err
}

// Start starts a schedule. The schedule belongs to the engine until the operation that the Handle
// names has ended.
func (e *Engine) Start(s *Schedule) Handle {
	e.lock()
	h := e.begin(s, true)
	e.unlock()
	return h
}

func (e *Engine) begin(s *Schedule, oneTime bool) Handle {
	s.under, s.next, s.oldest, s.given = s.under[:0], 0, 0, 0
	s.err, s.broken, s.lent, s.oneTime, s.ended, s.behind = nil, false, false, oneTime, false, nil
	s.handle = Handle{}
	if oneTime || e.cfg.Process.Layout.Replicated() {
		s.handle = e.p.Open()
	}
	h := s.handle
	if s.Agreement != nil && !e.p.BeginMasked(s.Agreement, h) {
		s.fail(process.ErrAnew)
	}
	if e.enter(s) {
		e.advance(s)
		// The first step is often a copy: the caller does it at once.
		for s.lent && e.lend(s) {
		}
	}
	return h
}

// enter puts a schedule among those that run, unless its lane is occupied.
func (e *Engine) enter(s *Schedule) bool {
	if l := s.Lane; l != nil {
		occupied := l.first != nil
		if occupied {
			l.last.behind = s
		} else {
			l.first = s
		}
		l.last = s
		if occupied {
			return false
		}
	}
	e.running.schedules = append(e.running.schedules, s)
	return true
}

// runSchedules goes on with every schedule that can. The lock is held.
func (e *Engine) runSchedules() {
	for i := 0; i < len(e.running.schedules); {
		s := e.running.schedules[i]
		if !s.lent {
			e.advance(s)
		}
		if !s.ended { // if it has, another one has moved to its index
			i++
		}
	}
	e.running.settled = e.p.Changes
}

// advance goes on with a schedule until it must wait or has ended. The lock is
// held.
func (e *Engine) advance(s *Schedule) {
	e.p.Resume(s.handle)
	for s.next < len(s.steps) && !s.broken {
		st := &s.steps[s.next]
		switch st.Kind {
		case StepSend:
			s.under = append(s.under, operation{e.send(s.Context, st.Peer, s.Tag+int32(st.Count), st.Data), s.sent()})
		case StepOffer:
			s.under = append(s.under, operation{e.offer(s.Context, st.Peer, s.Tag, st.Data), s.sent()})
		case StepReceive:
			s.under = append(s.under, operation{e.p.Receive(s.Context, st.Peer, s.Tag+int32(st.Count), st.Data), len(st.Data)})
		case StepTake:
			s.under = append(s.under, operation{e.p.Receive(s.Context, st.Peer, s.Tag+int32(st.Count), st.Data), upTo})
		case StepBroadcast:
			s.under = append(s.under, operation{e.broadcast(s.casts(), int(st.Peer), st.shape, st.Data), unsized})
		case StepGiven:
			if s.given < st.Count {
				e.p.Suspend()
				return
			}
		case StepOnce:
			s.under = append(s.under, operation{e.doOnce(st.With.(*Once)), unsized})
		case StepWait:
			if !e.collect(s, st.Count) && !s.broken {
				e.p.Suspend()
				return
			}
		default:
			if st.thread != underLock {
				s.lent = true
				if st.thread == mayBlock && s.oneTime {
					go e.work(s, st)
					e.p.Suspend()
					return
				}
				e.running.lent = append(e.running.lent, s)
				e.p.Suspend()
				return
			}
			st.Do()
		}
		s.next++
	}
	if s.broken {
		e.withdraw(s)
	}
	through := e.collect(s, len(s.under))
	e.p.Suspend()
	if through {
		e.end(s)
	}
}

// collect takes the outcomes of the first n operations and tells whether all have
// ended.
func (e *Engine) collect(s *Schedule, n int) bool {
	for ; s.oldest < n; s.oldest++ {
		o := &s.under[s.oldest]
		if o.handle == (Handle{}) {
			continue
		}
		if !e.p.Done(o.handle) {
			return false
		}
		st, err := e.p.Take(o.handle)
		if err == nil && st.Bytes != o.size {
			if o.size >= 0 {
				err = &process.SizeError{Source: st.Source, Tag: st.Tag, Has: st.Bytes, Fit: o.size, Err: process.ErrMismatch}
			} else if o.size == upTo {
				s.taken = st.Bytes
			}
		}
		if err == nil || o.size == spread && errors.Is(err, process.ErrRankLost) {
			continue
		}
		s.fail(err)
		s.broken = s.broken || s.Spreads
	}
	return true
}

// sent is the size of an operation that sends.
func (s *Schedule) sent() int {
	if s.Spreads {
		return spread
	}
	return unsized
}

// casts is the context of the broadcasts.
func (s *Schedule) casts() uint64 {
	if s.Casts != 0 {
		return s.Casts
	}
	return s.Context
}

// fail notes an error. If members only disagree about a size the schedule goes on, so that no
// member waits in vain.
func (s *Schedule) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	if !errors.Is(err, process.ErrTruncated) && !errors.Is(err, process.ErrMismatch) {
		s.broken = true
	}
}

// withdraw cancels the receives that no message has matched. Messages that are arriving go to the
// program's memory, so the schedule waits for those.
func (e *Engine) withdraw(s *Schedule) {
	for _, o := range s.under[s.oldest:] {
		e.p.Cancel(o.handle)
	}
}

// end ends a schedule, and starts the next one of its lane.
func (e *Engine) end(s *Schedule) {
	s.ended = true
	for i, x := range e.running.schedules {
		if x == s {
			last := len(e.running.schedules) - 1
			if i < last {
				copy(e.running.schedules[i:], e.running.schedules[i+1:])
			}
			e.running.schedules[last] = nil
			e.running.schedules = e.running.schedules[:last]
			break
		}
	}
	if s.Agreement != nil {
		e.p.EndMasked(s.Agreement, s.err)
	} else if s.handle != (Handle{}) {
		e.p.End(s.handle, s.err)
	} else {
		e.rouse() // the thread that waits for it may slumber
	}
	var next *Schedule
	if l := s.Lane; l != nil {
		next = s.behind
		l.first = next
	}
	if s.oneTime && s.Released != nil {
		s.Released()
	}
	if next != nil {
		e.running.schedules = append(e.running.schedules, next)
		e.advance(next)
	}
}

// help runs a step that needs no lock, if one is due. called says that this is a thread of the
// program inside a call. The lock is held, but given up meanwhile.
func (e *Engine) help(called bool) bool {
	for _, s := range e.running.lent {
		if called || s.steps[s.next].thread < inCall {
			return e.lend(s)
		}
	}
	return false
}

// lend runs the steps of a schedule that need no lock. It returns false if another thread runs
// them already.
func (e *Engine) lend(s *Schedule) bool {
	found := false
	for i, x := range e.running.lent {
		if x == s {
			e.running.lent = append(e.running.lent[:i], e.running.lent[i+1:]...)
			found = true
			break
		}
	}
	if !found {
		return false
	}
	e.rouse() // this thread stops polling: another must poll now
	first := s.steps[s.next].thread
	e.mu.Unlock()
	n := s.next
	for ; n < len(s.steps) && s.steps[n].local() && s.steps[n].thread <= first; n++ {
		s.steps[n].Do()
	}
	e.lock()
	s.next, s.lent = n, false
	e.advance(s)
	e.rouse()
	return true
}

// work runs a step that may block, of a schedule that was started, and goes on with the schedule.
func (e *Engine) work(s *Schedule, st *Step) {
	st.Do()
	e.lock()
	defer e.unlock()
	s.next, s.lent = s.next+1, false
	if e.closed {
		return
	}
	e.advance(s)
	if e.waiting.sleeping {
		e.tr.Wake() // a thread that waits for the schedule may sleep there
	}
	e.rouse()
}
