package binding

import (
	"errors"
	"sync"
	"sync/atomic"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// grequest is a generalised request: the program says when it ends. Inside, it receives an
// empty message, which this process sends itself at that moment. So every function that waits
// for requests waits for these too.
type grequest struct {
	p                   *Process
	query, free_, abort uintptr // the program's functions
	extra               uintptr
	tag                 int
	ended               atomic.Bool // MPI_Grequest_complete was called
}

// grequests is the communicator for those messages.
type grequests struct {
	mu   sync.Mutex
	comm *comm.Comm // of this process with itself; made when first needed
	tag  int
}

// next gives the communicator and the tag of the next request.
func (g *grequests) next(self *comm.Comm) (*comm.Comm, int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.comm == nil {
		c, err := self.Dup()
		if err != nil {
			return nil, 0, err
		}
		g.comm = c
	}
	g.tag = (g.tag + 1) & maxTag
	return g.comm, g.tag, nil
}

// GrequestStart is MPI_Grequest_start.
func (p *Process) GrequestStart(queryFn, freeFn, cancelFn uintptr, extraState uintptr, request *Request) Code {
	const function = "MPI_Grequest_start"
	if !p.live() {
		return p.outOfTime(function)
	}
	self := p.self.Load()
	c, tag, err := p.grequests.next(self.comm)
	if err != nil {
		return p.failWith(self, function, err)
	}
	pending, err := c.Irecv(nil, 0, tag)
	if err != nil {
		return p.failWith(self, function, err)
	}
	g := &grequest{p: p, query: queryFn, free_: freeFn, abort: cancelFn, extra: extraState, tag: tag}
	return p.startRequest(self, function, pending.Handle(), g, request)
}

// GrequestComplete is MPI_Grequest_complete.
func (p *Process) GrequestComplete(request Request) Code {
	const function = "MPI_Grequest_complete"
	if !p.live() {
		return p.outOfTime(function)
	}
	r := p.request(request)
	if r == nil {
		return p.noRequest(function, request)
	}
	g, is := r.work.(*grequest)
	if !is || g.ended.Swap(true) {
		return p.fail(nil, function, ErrRequest, "the request is no generalised one, or is complete already")
	}
	if err := p.grequests.comm.Send(nil, 0, g.tag); err != nil {
		return p.failWith(p.self.Load(), function, err)
	}
	return Success
}

// finish implements work: the program fills in the status.
func (g *grequest) finish(r *request, _ engine.Status, err error) error {
	if err != nil {
		return err
	}
	s := Status{Source: AnySource, Tag: AnyTag}
	code := g.p.host.QueryRequest(g.query, g.extra, &s)
	r.source, r.tag, r.bytes, r.cancelled = s.Source, s.Tag, s.Bytes(), s.Cancelled()
	if code != Success {
		return codeError{code, "query"}
	}
	return nil
}

// free implements work.
func (g *grequest) free() error {
	if code := g.p.host.FreeRequest(g.free_, g.extra); code != Success {
		return codeError{code, "free"}
	}
	return nil
}

// cancel is MPI_Cancel. The program's function decides whether it is possible.
func (g *grequest) cancel() Code {
	if code := g.p.host.CancelRequest(g.abort, g.extra, g.ended.Load()); code != Success {
		return g.p.fail(nil, "MPI_Cancel", code, "the program's cancel function returned %d", code)
	}
	return Success
}

// codeError is the error that a function of the program returned.
type codeError struct {
	code  Code
	which string
}

func (e codeError) Error() string { return "the program's " + e.which + " function returned an error" }

// asCode finds the code of a codeError.
func asCode(err error) (Code, bool) {
	var e codeError
	ok := errors.As(err, &e)
	return e.code, ok
}
