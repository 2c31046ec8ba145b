package binding

import (
	"errors"
	"sync"
	"sync/atomic"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// request is an operation that was started, or can be (a persistent one). It is in
// one of three states: inactive, active, and ended, when its outcome is known but
// hasn't been told yet.
type request struct {
	c        *communicator
	function string // that made it, for errors
	state    requestState

	// Of point-to-point operations.
	pending comm.Pending
	d       data
	send    comm.Pending // of MPI_Isendrecv, whose receive is pending
	sent    data
	noProc  bool // it receives from MPI_PROC_NULL, whatever it sends

	handle engine.Handle   // what ends it
	also   []engine.Handle // what must have ended too

	// Of operations that aren't point-to-point, or are so with more to do.
	work  work
	begin beginning // of a persistent operation; nil for others

	source, tag int32 // outcome
	bytes       int64
	cancelled   bool
	err         error // the cause, of a failure
}

// beginning starts a persistent operation, and calls follow or settle.
type beginning func(r *request) Code

// requestState is how far a request is.
type requestState uint8

const (
	inactive requestState = iota
	active
	ended
)

// work is what a request is about that is no plain send or receive.
type work interface {
	// finish is called once for each start, when what it started has ended, with
	// what the engine says of the request's handle: memory is unpacked and released
	// there, and a status other than the empty one noted (source, tag, bytes). It
	// returns the error of the request.
	finish(r *request, s engine.Status, err error) error
	// free is called when the request is freed. Nothing is under way then. An error is one
	// of the program's.
	free() error
}

// requests are the requests of a process.
type requests struct {
	table[request]
	pool sync.Pool // of *request

	// sent is the request of every send that had ended when it was started, and
	// noProc that of a receive from MPI_PROC_NULL: handles cost something.
	sent, noProc request

	mu       sync.Mutex
	orphans  []*request  // freed while they were active
	orphaned atomic.Bool // there are any
}

const (
	// sentHandle and noProcHandle name the two requests that aren't in the table.
	// Their place is in no chunk of it.
	sentHandle   Request = (1<<placeBits-1)<<kindBits | kindRequest
	noProcHandle Request = (1<<placeBits-2)<<kindBits | kindRequest
)

func (q *requests) init() {
	q.kind = kindRequest
	q.sent = request{state: ended, source: AnySource, tag: AnyTag}
	q.noProc = request{state: ended, source: ProcNull, tag: AnyTag}
}

// find is the request of a handle, nil if it has none.
func (q *requests) find(h Request) *request {
	switch h {
	case sentHandle:
		return &q.sent
	case noProcHandle:
		return &q.noProc
	}
	return q.get(uintptr(h))
}

// newRequest gives a request that is in no table yet.
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

// follow makes a request active: it ends with the operation of a handle.
func (r *request) follow(h engine.Handle) { r.handle, r.state = h, active }

// settle ends a request that there is nothing to wait for.
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

// keepRequest makes a persistent request. begin starts its operation, and calls
// follow.
func (p *Process) keepRequest(c *communicator, function string, begin beginning, w work, to *Request) Code {
	r := p.newRequest(c, function)
	r.work, r.begin, r.state = w, begin, inactive
	return p.publish(r, to)
}

// over tells whether what a request waits for has ended.
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

// conclude waits for the end of a request and takes its outcome.
func (p *Process) conclude(r *request) {
	if r.state != active {
		return
	}
	e := p.job.Engine()
	if len(r.also) > 0 {
		e.WaitUntil(r.over)
	}
	p.outcome(r, e)
}

// outcome takes the outcome of a request that is over, or waits if only its
// handle isn't. It may unpack.
func (p *Process) outcome(r *request, e *engine.Engine) {
	s, err := e.Wait(r.handle)
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

// received brings a message to the program's buffer and notes what the status says of
// it. Of a send nothing is noted.
func (p *Process) received(r *request, s engine.Status, err error) error {
	st, err := r.pending.Outcome(s, err)
	switch {
	case !r.pending.Receives():
	case errors.Is(err, process.ErrCancelled):
		r.cancelled, err = true, nil
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

// fill tells a status the outcome, but for the error.
func (r *request) fill(s *Status) {
	s.set(r.source, r.tag, r.bytes)
	if s != nil {
		s.SetCancelled(r.cancelled)
	}
}

// retire ends a request's round after its outcome was told: a persistent one may
// be started again, another is forgotten and its handle becomes null. The error is
// recycle's.
func (p *Process) retire(r *request, h *Request) error {
	switch {
	case r == &p.requests.sent || r == &p.requests.noProc:
		*h = RequestNull
	case r.begin != nil:
		r.state, r.err = inactive, nil
	default:
		p.requests.remove(uintptr(*h))
		*h = RequestNull
		return p.recycle(r)
	}
	return nil
}

// recycle gives a request back that nobody uses any more. The error is that of the
// program's free function, which must be told if there is somebody to tell.
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

// RequestFree is MPI_Request_free. An active operation goes on; it is forgotten when it
// has ended.
func (p *Process) RequestFree(request *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Request_free")
	}
	r := p.requests.find(*request)
	if r == nil {
		return p.noRequest("MPI_Request_free", *request)
	}
	if r == &p.requests.sent || r == &p.requests.noProc {
		*request = RequestNull
		return Success
	}
	p.requests.remove(uintptr(*request))
	*request = RequestNull
	if r.state != active {
		if err := p.recycle(r); err != nil {
			return p.failWith(p.nobody(), "MPI_Request_free", err)
		}
		return Success
	}
	p.requests.mu.Lock()
	p.requests.orphans = append(p.requests.orphans, r)
	p.requests.mu.Unlock()
	p.requests.orphaned.Store(true)
	return Success
}

// reap forgets the requests that were freed and have ended since.
func (p *Process) reap() {
	q := &p.requests
	q.mu.Lock()
	var over []*request
	p.job.Engine().TestUntil(func(done func(engine.Handle) bool) bool {
		kept := q.orphans[:0]
		for _, r := range q.orphans {
			if r.over(done) {
				over = append(over, r)
			} else {
				kept = append(kept, r)
			}
		}
		clear(q.orphans[len(kept):])
		q.orphans = kept
		return true
	})
	p.requests.orphaned.Store(len(q.orphans) > 0)
	q.mu.Unlock()
	for _, r := range over {
		p.conclude(r) // nobody asks for its outcome
		p.recycle(r)
	}
}

// noRequest is the error of a handle that is no request's.
func (p *Process) noRequest(function string, h Request) Code {
	if h == RequestNull {
		return p.fail(nil, function, ErrRequest, "the request is MPI_REQUEST_NULL")
	}
	return p.noHandle(nil, function, ErrRequest, "request", uintptr(h))
}

// Cancel is MPI_Cancel. A receive that no message has been found for is cancelled; a
// send never is, which the standard lets a library decide.
func (p *Process) Cancel(request *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Cancel")
	}
	r := p.requests.find(*request)
	if r == nil {
		return p.noRequest("MPI_Cancel", *request)
	}
	if r.state == inactive {
		return p.fail(r.c, "MPI_Cancel", ErrRequest, "the persistent request is inactive")
	}
	if g, is := r.work.(*grequest); is {
		return g.cancel()
	}
	if r.state == active && r.work == nil && r.pending.Receives() && r.send.Engine() == nil {
		r.pending.Cancel()
	}
	return Success
}

// TestCancelled is MPI_Test_cancelled.
func (p *Process) TestCancelled(status *Status, flag *int32) Code {
	*flag = truth(status.Cancelled())
	return Success
}
