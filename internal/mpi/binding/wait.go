package binding

import (
	"sync"
	"unsafe"

	"banyan/internal/runtime/engine"
)

// Wait is MPI_Wait.
func (p *Process) Wait(request *Request, status *Status) Code {
	if !p.live() {
		return p.outOfTime("MPI_Wait")
	}
	r := p.requests.find(*request)
	if r == nil || r.state == inactive {
		if r == nil && *request != RequestNull {
			return p.noRequest("MPI_Wait", *request)
		}
		status.empty()
		return Success
	}
	p.conclude(r)
	return p.tell(r, request, status)
}

// Test is MPI_Test.
func (p *Process) Test(request *Request, flag *int32, status *Status) Code {
	if !p.live() {
		return p.outOfTime("MPI_Test")
	}
	*flag = 1
	r := p.requests.find(*request)
	if r == nil || r.state == inactive {
		if r == nil && *request != RequestNull {
			return p.noRequest("MPI_Test", *request)
		}
		status.empty()
		return Success
	}
	if !p.isOver(r) {
		*flag = 0
		return Success
	}
	return p.tell(r, request, status)
}

// isOver makes progress and takes a request's outcome if there is one.
func (p *Process) isOver(r *request) bool {
	if r.state != active {
		return true
	}
	e := p.job.Engine()
	if !e.TestUntil(r.over) {
		return false
	}
	p.outcome(r, e)
	return true
}

// tell ends one request's round: status and code say how it went.
func (p *Process) tell(r *request, h *Request, status *Status) Code {
	r.fill(status)
	c, function, err := r.c, r.function, r.err
	if freed := p.retire(r, h); err == nil {
		err = freed
	}
	if err == nil {
		return Success
	}
	return p.failWith(c, function, err)
}

// list is the requests of an array that a call is about.
type list struct {
	handles []Request
	all     []*request // by place; nil for MPI_REQUEST_NULL and inactive ones
	active  int
}

// lists are lists for the next call.
var lists = sync.Pool{New: func() any { return new(list) }}

// listed looks an array of requests up. Whoever gets a list gives it back.
func (p *Process) listed(function string, count int32, requests *Request) (*list, Code) {
	if !p.live() {
		return nil, p.outOfTime(function)
	}
	if count < 0 {
		return nil, p.fail(nil, function, ErrCount, "the count is %d", count)
	}
	l := lists.Get().(*list)
	l.handles, l.active = array(requests, count), 0
	for i, h := range l.handles {
		r := p.requests.find(h)
		if r == nil && h != RequestNull {
			l.give()
			return nil, p.fail(nil, function, ErrRequest, "element %d of the array is %#x, which is no request or has been freed", i, uintptr(h))
		}
		if r != nil && r.state == inactive {
			r = nil
		}
		if r != nil {
			l.active++
		}
		l.all = append(l.all, r)
	}
	return l, Success
}

func (l *list) give() {
	clear(l.all)
	l.all, l.handles = l.all[:0], nil
	lists.Put(l)
}

// first is the place of the first request that is over, or -1.
func (l *list) first(done func(engine.Handle) bool) int {
	for i, r := range l.all {
		if r != nil && r.over(done) {
			return i
		}
	}
	return -1
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

// Waitany is MPI_Waitany.
func (p *Process) Waitany(count int32, arrayOfRequests *Request, indx *int32, status *Status) Code {
	l, code := p.listed("MPI_Waitany", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	*indx = Undefined
	if l.active == 0 {
		status.empty()
		return Success
	}
	i := -1
	p.job.Engine().WaitUntil(func(done func(engine.Handle) bool) bool {
		i = l.first(done)
		return i >= 0
	})
	return p.tellOne(l, max(i, 0), indx, status)
}

// Testany is MPI_Testany.
func (p *Process) Testany(count int32, arrayOfRequests *Request, indx, flag *int32, status *Status) Code {
	l, code := p.listed("MPI_Testany", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	*indx, *flag = Undefined, 1
	if l.active == 0 {
		status.empty()
		return Success
	}
	i := p.firstOver(l)
	if i < 0 {
		*flag = 0
		return Success
	}
	return p.tellOne(l, i, indx, status)
}

// firstOver makes progress and returns the place of the first request that is
// over, or -1.
func (p *Process) firstOver(l *list) int {
	i := -1
	p.job.Engine().TestUntil(func(done func(engine.Handle) bool) bool {
		i = l.first(done)
		return i >= 0
	})
	return i
}

// tellOne ends the round of the request at a place.
func (p *Process) tellOne(l *list, i int, indx *int32, status *Status) Code {
	for l.all[i] == nil { // only if the engine was closed meanwhile
		i++
	}
	*indx = int32(i)
	p.conclude(l.all[i])
	return p.tell(l.all[i], &l.handles[i], status)
}

// Waitall is MPI_Waitall.
func (p *Process) Waitall(count int32, arrayOfRequests *Request, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Waitall", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	for _, r := range l.all {
		if r != nil {
			p.conclude(r)
		}
	}
	return p.tellAll(l, "MPI_Waitall", true, arrayOfStatuses)
}

// Testall is MPI_Testall.
func (p *Process) Testall(count int32, arrayOfRequests *Request, flag *int32, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Testall", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	*flag = 1
	if !p.allOver(l) {
		*flag = 0
		return Success
	}
	return p.tellAll(l, "MPI_Testall", true, arrayOfStatuses)
}

// allOver makes progress and takes the outcome of all requests if all are over.
func (p *Process) allOver(l *list) bool {
	if l.active == 0 {
		return true
	}
	if !p.job.Engine().TestUntil(l.every) {
		return false
	}
	for _, r := range l.all {
		if r != nil {
			p.conclude(r)
		}
	}
	return true
}

// tellAll tells of all requests of a list, which are over, and ends their rounds if
// retire says so.
func (p *Process) tellAll(l *list, function string, retire bool, statuses *Status) Code {
	var failed failure
	for i, r := range l.all {
		s := statusAt(statuses, i)
		if r == nil {
			s.empty()
			continue
		}
		r.fill(s)
		failed.note(r)
	}
	if failed.err != nil {
		for i, r := range l.all {
			if s := statusAt(statuses, i); s != nil {
				s.Error = errorOf(r)
			}
		}
	}
	for i, r := range l.all {
		if r != nil && retire {
			p.retire(r, &l.handles[i])
		}
	}
	return p.failedIn(function, failed)
}

// Waitsome is MPI_Waitsome.
func (p *Process) Waitsome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Waitsome", incount, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	if l.active == 0 {
		*outcount = Undefined
		return Success
	}
	p.job.Engine().WaitUntil(func(done func(engine.Handle) bool) bool { return l.first(done) >= 0 })
	return p.tellSome(l, "MPI_Waitsome", true, outcount, arrayOfIndices, arrayOfStatuses)
}

// Testsome is MPI_Testsome.
func (p *Process) Testsome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Testsome", incount, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	if l.active == 0 {
		*outcount = Undefined
		return Success
	}
	p.firstOver(l)
	return p.tellSome(l, "MPI_Testsome", true, outcount, arrayOfIndices, arrayOfStatuses)
}

// tellSome tells of the requests that are over, and ends their rounds if retire
// says so.
func (p *Process) tellSome(l *list, function string, retire bool, outcount, indices *int32, statuses *Status) Code {
	p.job.Engine().TestUntil(func(done func(engine.Handle) bool) bool {
		for i, r := range l.all {
			if r != nil && !r.over(done) {
				l.all[i] = nil
			}
		}
		return true
	})
	var failed failure
	n := 0
	for i, r := range l.all {
		if r == nil {
			continue
		}
		p.conclude(r)
		*(*int32)(unsafe.Add(unsafe.Pointer(indices), 4*n)) = int32(i)
		r.fill(statusAt(statuses, n))
		failed.note(r)
		n++
	}
	*outcount = int32(n)
	n = 0
	for i, r := range l.all {
		if r == nil {
			continue
		}
		if s := statusAt(statuses, n); s != nil && failed.err != nil {
			s.Error = errorOf(r)
		}
		n++
		if retire {
			p.retire(r, &l.handles[i])
		}
	}
	return p.failedIn(function, failed)
}

// statusAt is an element of an array of statuses, nil for MPI_STATUSES_IGNORE.
func statusAt(statuses *Status, i int) *Status {
	if statuses == nil {
		return nil
	}
	return (*Status)(unsafe.Add(unsafe.Pointer(statuses), i*int(unsafe.Sizeof(*statuses))))
}

// errorOf is what a status says of a request.
func errorOf(r *request) int32 {
	if r == nil || r.err == nil {
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

// failedIn is the error of a call whose statuses say more.
func (p *Process) failedIn(function string, f failure) Code {
	if f.err == nil {
		return Success
	}
	p.awaitEnd(f.c, f.err)
	return p.fail(f.c, function, ErrInStatus, "%s failed: %s", f.function, causeOf(f.err))
}
