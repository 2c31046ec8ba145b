package binding

import (
	"sync"
	"unsafe"

	"banyan/internal/runtime/engine"
)

// list is the array of requests that a call is about.
type list struct {
	handles []Request
	all     []*request // by index; nil for MPI_REQUEST_NULL and inactive ones
	active  int
	engine  *engine.Engine // of the active ones, if it is the same for all
	mixed   bool           // it isn't: listmixed.go
}

// lists are lists for the next call.
var lists = sync.Pool{New: func() any { return new(list) }}

// requestList looks an array of requests up. The caller gives the list back.
func (p *Process) requestList(function string, count int32, requests *Request) (*list, Code) {
	if !p.live() {
		return nil, p.outOfTime(function)
	}
	if count < 0 {
		return nil, p.fail(nil, function, ErrCount, "the count is %d", count)
	}
	if requests == nil && count > 0 {
		return nil, p.Null(function, "array_of_requests")
	}
	l := lists.Get().(*list)
	l.handles, l.active, l.engine, l.mixed = array(requests, count), 0, p.job.Engine(), false
	first := true
	for i, h := range l.handles {
		r := p.request(h)
		if r == nil && h != RequestNull {
			l.give()
			return nil, p.fail(nil, function, ErrRequest, "element %d of the array is %#x, which is no request or has been freed", i, uintptr(h))
		}
		if r != nil && r.state == inactive {
			r = nil
		}
		if r != nil {
			l.active++
			if r.state == active {
				e := r.engine()
				l.mixed = l.mixed || !first && e != l.engine
				l.engine, first = e, false
			}
		}
		l.all = append(l.all, r)
	}
	return l, Success
}

func (l *list) give() {
	clear(l.all)
	l.all, l.handles, l.engine = l.all[:0], nil, nil
	lists.Put(l)
}

// first is the index of the first request that is over, or -1.
func (l *list) first(done func(engine.Handle) bool) int {
	for i, r := range l.all {
		if r != nil && r.over(done) {
			return i
		}
	}
	return -1
}

// anyActive tells whether a request is over whose outcome hasn't been taken.
func (l *list) anyActive(done func(engine.Handle) bool) bool {
	for _, r := range l.all {
		if r != nil && r.state == active && r.over(done) {
			return true
		}
	}
	return false
}

// every tells whether all requests are over.
func (l *list) every(done func(engine.Handle) bool) bool {
	for _, r := range l.all {
		if r != nil && !r.over(done) {
			return false
		}
	}
	return true
}

// statusAt is an element of an array of statuses, nil for MPI_STATUSES_IGNORE.
func statusAt(statuses *Status, i int) *Status {
	if statuses == nil {
		return nil
	}
	return (*Status)(unsafe.Add(unsafe.Pointer(statuses), i*int(unsafe.Sizeof(*statuses))))
}

// errorOf is the error of a request for its status.
func errorOf(r *request) int32 {
	switch {
	case r == nil:
		return int32(Success)
	case r.err != nil:
	case r.state == active: // another one has failed
		return int32(ErrPending)
	default:
		return int32(Success)
	}
	return int32(classOfError(r.err))
}

// failure is the first error of several requests.
type failure struct {
	c        *communicator
	function string
	err      error
}

func (f *failure) note(r *request) {
	if f.err == nil && r.err != nil {
		*f = failure{r.c, r.function, r.err}
	}
}

// failedIn is the error of a call about several requests: the statuses hold the errors of each. An
// error handler gets the class of the first that has failed; the call returns MPI_ERR_IN_STATUS.
func (p *Process) failedIn(function string, f failure) Code {
	if f.err == nil {
		return Success
	}
	p.awaitEnd(f.c, f.err)
	return p.failThere(f.c, f.err, func() Code {
		code := p.fail(f.c, function, classOfError(f.err), "%s failed: %s", f.function, causeOf(f.err))
		return p.raised.instead(code, ErrInStatus)
	})
}
