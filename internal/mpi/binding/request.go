package binding

import (
	"errors"
	"sync"
	"sync/atomic"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
)

// request is an operation that was started, or can be (a persistent one). It is inactive,
// active, or ended: then its outcome is known and hasn't been reported yet.
type request struct {
	c        *communicator
	function string // that made the request, for errors
	state    requestState

	// Of point-to-point operations.
	pending comm.Pending
	d       data
	send    comm.Pending // of MPI_Isendrecv; the receive is pending
	sent    data
	noProc  bool // the receive of MPI_Isendrecv is from MPI_PROC_NULL

	buffer *sendBuffer // of a buffered send that had to wait there, pending

	handle engine.Handle   // of the operation that ends it
	also   []engine.Handle // of operations that must have ended too

	// Of collectives, persistent operations and generalised requests.
	work  work
	begin beginning // of a persistent operation; nil for others

	source, tag int32 // outcome
	bytes       int64
	cancelled   bool
	err         error // the cause, of a failure

	seenOver bool // MPI_Waitall: it was over when the call looked
}

// beginning starts a persistent operation. It calls follow or settle.
type beginning func(r *request) Code

// requestState is a request's state.
type requestState uint8

const (
	inactive requestState = iota
	active
	ended
)

// work is the operation of a request that isn't a plain send or receive.
type work interface {
	// finish is called once for each start, when the operation has ended, with the engine's
	// result for the request's handle. It unpacks and releases memory, and notes the source,
	// tag and bytes of a status that isn't empty. It returns the error of the request.
	finish(r *request, s engine.Status, err error) error
	// free is called when the request is freed and nothing is under way. An error comes from a
	// function of the program.
	free() error
}

// requests are the requests of a process.
type requests struct {
	table[request]
	pool sync.Pool // of *request

	// sent is the request of every send that ended within its call, and noProc that of every
	// receive from MPI_PROC_NULL. They need no handles of their own, which would cost time.
	sent, noProc request

	notes     notes
	cancelled cancelledSends

	mu       sync.Mutex
	orphans  []*request  // requests that the program freed while they were active
	orphaned atomic.Bool // there are any
}

const (
	// sentHandle and noProcHandle name two requests that aren't in the table. They are of a kind of
	// their own, as are those of numbered sends (cancelsend.go) and of notes (noted.go).
	sentHandle   Request = lane.Sent
	noProcHandle Request = lane.NoProc
)

// C knows the handles of that kind: this doesn't compile if package lane has another.
var _ = [1]bool{}[kindInLane-lane.Kind]

func (q *requests) init() {
	q.kind = kindRequest
	q.sent = request{state: ended, source: AnySource, tag: AnyTag}
	q.noProc = request{state: ended, source: ProcNull, tag: AnyTag}
}

// request is the request of a handle, nil if it has none.
func (p *Process) request(h Request) *request {
	switch {
	case lane.IsSent(uint64(h)):
		return p.sent(h)
	case h == noProcHandle:
		return &p.requests.noProc
	case lane.IsNote(uint64(h)):
		return p.noted(h)
	}
	return p.requests.get(uintptr(h))
}

// endRequest ends a handle that has a request.
func (p *Process) endRequest(h Request) {
	switch {
	case lane.IsNote(uint64(h)):
		p.endNoted(h)
		return
	case lane.IsSent(uint64(h)):
		p.endSent(h)
		return
	}
	p.requests.remove(uintptr(h))
}

// newRequest makes a request that isn't in the table yet.
func (p *Process) newRequest(c *communicator, function string) *request {
	if p.requests.orphaned.Load() {
		p.reap()
	}
	r, _ := p.requests.pool.Get().(*request)
	if r == nil {
		r = new(request)
	}
	r.c, r.function = c, function
	c.retain()
	return r
}

// publish gives a request its handle.
func (p *Process) publish(r *request, h *Request) Code {
	n := p.requests.add(r)
	if n == 0 {
		return p.fail(r.c, r.function, ErrNoMem, "there are too many requests")
	}
	*h = Request(n)
	return Success
}

// follow makes a request active: it ends when the operation of the handle ends.
func (r *request) follow(h engine.Handle) { r.handle, r.state = h, active }

// settle ends a request that has nothing to wait for.
func (r *request) settle(source int32) {
	r.state = ended
	r.source, r.tag, r.bytes, r.cancelled, r.err = source, AnyTag, 0, false, nil
}

// startRequest makes the request of an operation that was started.
func (p *Process) startRequest(c *communicator, function string, h engine.Handle, w work, to *Request) Code {
	r := p.newRequest(c, function)
	r.work = w
	r.follow(h)
	return p.publish(r, to)
}

// keepRequest makes a persistent request. begin starts its operation.
func (p *Process) keepRequest(c *communicator, function string, begin beginning, w work, to *Request) Code {
	r := p.newRequest(c, function)
	r.work, r.begin, r.state = w, begin, inactive
	return p.publish(r, to)
}

// over tells whether the operations of a request have ended.
func (r *request) over(done func(engine.Handle) bool) bool {
	if r.state != active {
		return true
	}
	if !done(r.handle) {
		return false
	}
	for _, h := range r.also {
		if !done(h) {
			return false
		}
	}
	return true
}

// engine is that of the request's operations.
func (r *request) engine() *engine.Engine { return r.c.comm.Engine() }

// conclude waits for the end of a request and takes its outcome.
func (p *Process) conclude(r *request) {
	if r.state != active {
		return
	}
	e := r.engine()
	if len(r.also) > 0 {
		e.WaitUntil(r.over)
	}
	p.outcome(r, e)
}

// concludeUndisturbed is conclude, but may give up when a rank has failed or a communicator has
// been revoked. Then it returns false.
func (p *Process) concludeUndisturbed(r *request) bool {
	if r.state != active {
		return true
	}
	e := r.engine()
	if len(r.also) > 0 {
		disturbed := false
		e.WaitUntil(func(done func(engine.Handle) bool) bool {
			disturbed = e.Disturbed()
			return disturbed || r.over(done)
		})
		if disturbed {
			return false
		}
	}
	s, done, err := e.WaitUndisturbed(r.handle)
	if done {
		p.take(r, s, err)
	}
	return done
}

// outcome takes the outcome of a request. It waits for the handle; the other operations must
// have ended. It may unpack.
func (p *Process) outcome(r *request, e *engine.Engine) {
	s, err := e.Wait(r.handle)
	p.take(r, s, err)
}

// take notes the engine's result. A receive from any source that goes on after a failure
// (process.PendingError) stays active, with the error.
func (p *Process) take(r *request, s engine.Status, err error) {
	if err != nil && errors.Is(err, process.ErrPending) {
		_, r.err = r.pending.Outcome(s, err)
		return
	}
	r.settle(AnySource)
	if r.work != nil {
		r.err = r.work.finish(r, s, err)
		return
	}
	r.err = p.received(r, s, err)
	if r.send.Engine() != nil {
		_, err := r.send.Wait()
		r.sent.release()
		if r.err == nil {
			r.err = err
		}
		r.send, r.also = comm.Pending{}, r.also[:0]
	}
	if r.noProc {
		r.source = ProcNull
	}
}

// received copies a message to the program's buffer and notes its source, tag and size for the
// status. For a send it notes nothing.
func (p *Process) received(r *request, s engine.Status, err error) error {
	st, err := r.pending.Outcome(s, err)
	switch {
	case errors.Is(err, process.ErrCancelled):
		r.cancelled, err = true, nil
	case !r.pending.Receives():
	default:
		r.source, r.tag = int32(st.Source), int32(st.Tag)
		if err == nil || errors.Is(err, process.ErrTruncated) {
			r.bytes = min(int64(st.Bytes), int64(len(r.d.bytes)))
			r.d.unpack(r.bytes)
		}
	}
	if r.begin == nil {
		r.d.release()
	}
	return err
}

// fill stores the outcome in a status, except for the error.
func (r *request) fill(s *Status) {
	s.set(r.source, r.tag, r.bytes)
	if s != nil {
		s.SetCancelled(r.cancelled)
	}
}

// retire ends a request's round after its outcome was reported: a persistent request becomes
// inactive, another is freed and its handle becomes null. The error is recycle's.
func (p *Process) retire(r *request, h *Request) error {
	switch {
	case r.state == active: // it goes on
	case r == &p.requests.sent || r == &p.requests.noProc:
		*h = RequestNull
	case r.begin != nil:
		r.state, r.err = inactive, nil
	default:
		p.endRequest(*h)
		*h = RequestNull
		return p.recycle(r)
	}
	return nil
}

// recycle gives a request back that is no longer used. The error is that of the program's free
// function; a caller that can report it must do so.
func (p *Process) recycle(r *request) (err error) {
	if r.work != nil {
		err = r.work.free()
	}
	r.d.release()
	r.c.release()
	*r = request{also: r.also[:0]}
	p.requests.pool.Put(r)
	return err
}

// RequestFree is MPI_Request_free. An active operation goes on, and reap frees it after its
// end.
func (p *Process) RequestFree(request *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Request_free")
	}
	r := p.request(*request)
	if r == nil {
		return p.noRequest("MPI_Request_free", *request)
	}
	if r == &p.requests.sent || r == &p.requests.noProc {
		*request = RequestNull
		return Success
	}
	p.endRequest(*request)
	*request = RequestNull
	if r.state != active {
		if err := p.recycle(r); err != nil {
			return p.failWith(p.fallback(), "MPI_Request_free", err)
		}
		return Success
	}
	p.requests.mu.Lock()
	p.requests.orphans = append(p.requests.orphans, r)
	p.requests.mu.Unlock()
	p.requests.orphaned.Store(true)
	return Success
}

// reap frees the orphans that have ended.
func (p *Process) reap() {
	q := &p.requests
	q.mu.Lock()
	var over []*request
	kept := q.orphans[:0]
	for _, r := range q.orphans {
		is := false
		r.engine().TestUntil(func(done func(engine.Handle) bool) bool {
			is = r.over(done)
			return true
		})
		if is {
			over = append(over, r)
		} else {
			kept = append(kept, r)
		}
	}
	clear(q.orphans[len(kept):])
	q.orphans = kept
	p.requests.orphaned.Store(len(q.orphans) > 0)
	q.mu.Unlock()
	for _, r := range over {
		p.conclude(r)          // the program has no use for its outcome
		if r.state == active { // it goes on after a failure
			q.mu.Lock()
			q.orphans = append(q.orphans, r)
			q.mu.Unlock()
			q.orphaned.Store(true)
			continue
		}
		p.recycle(r)
	}
}

// noRequest is the error of a handle that names no request.
func (p *Process) noRequest(function string, h Request) Code {
	if h == RequestNull {
		return p.fail(nil, function, ErrRequest, "the request is MPI_REQUEST_NULL")
	}
	return p.noHandle(nil, function, ErrRequest, "request", uintptr(h))
}

// Cancel is MPI_Cancel. It cancels a receive that no message has matched, and a send whose message
// no receive has matched.
func (p *Process) Cancel(request *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Cancel")
	}
	r := p.request(*request)
	if r == nil {
		return p.noRequest("MPI_Cancel", *request)
	}
	if r.state == inactive {
		return p.fail(r.c, "MPI_Cancel", ErrRequest, "the persistent request is inactive")
	}
	if g, is := r.work.(*grequest); is {
		return g.cancel()
	}
	switch {
	case lane.IsSent(uint64(*request)):
		p.cancelSent(*request)
	case r.work != nil || r.send.Engine() != nil: // MPI_Isendrecv can't be cancelled
	case r.buffer != nil:
		r.cancelBuffered()
	case r.state != active:
	case r.pending.Receives():
		r.pending.Cancel()
	default:
		r.cancelSend()
	}
	return Success
}

// TestCancelled is MPI_Test_cancelled.
func (p *Process) TestCancelled(status *Status, flag *int32) Code {
	*flag = truth(status.Cancelled())
	return Success
}
