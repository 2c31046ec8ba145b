package binding

// MPI_Wait and MPI_Test end the round of a request that is over: it is freed, or, if it is
// persistent, becomes inactive. MPI_Request_get_status reports the same and leaves the request
// as it is. The functions below take this difference as an argument, retire.

// Wait is MPI_Wait.
func (p *Process) Wait(request *Request, status *Status) Code {
	r, code := p.waitable("MPI_Wait", *request, status)
	if r == nil {
		return code
	}
	p.conclude(r)
	return p.report(r, request, true, status)
}

// Test is MPI_Test.
func (p *Process) Test(request *Request, flag *int32, status *Status) Code {
	return p.test("MPI_Test", request, true, flag, status)
}

// RequestGetStatus is MPI_Request_get_status.
func (p *Process) RequestGetStatus(request Request, flag *int32, status *Status) Code {
	return p.test("MPI_Request_get_status", &request, false, flag, status)
}

func (p *Process) test(function string, request *Request, retire bool, flag *int32, status *Status) Code {
	*flag = 1
	r, code := p.waitable(function, *request, status)
	if r == nil {
		return code
	}
	if !p.isOver(r) {
		*flag = 0
		return Success
	}
	return p.report(r, request, retire, status)
}

// waitable is the request of a handle. It is nil if there is nothing to wait for: the handle
// is null or its request inactive, and the status becomes the empty one, or the
// handle is wrong, and the code says so.
func (p *Process) waitable(function string, h Request, status *Status) (*request, Code) {
	if !p.live() {
		return nil, p.outOfTime(function)
	}
	r := p.request(h)
	if r != nil && r.state != inactive {
		return r, Success
	}
	if r == nil && h != RequestNull {
		return nil, p.noRequest(function, h)
	}
	status.empty()
	return nil, Success
}

// isOver makes progress and takes a request's outcome if there is one.
func (p *Process) isOver(r *request) bool {
	e := p.job.Engine()
	if e.Led() {
		return p.isOverLed(r)
	}
	if r.state != active {
		return true
	}
	if e = r.engine(); !e.TestUntil(r.over) {
		return false
	}
	p.outcome(r, e)
	return true
}

// report stores the outcome of a request that is over in the status, and returns its code.
func (p *Process) report(r *request, h *Request, retire bool, status *Status) Code {
	r.fill(status)
	c, function, err := r.c, r.function, r.err
	if retire {
		if freed := p.retire(r, h); err == nil {
			err = freed
		}
	}
	if err == nil {
		return Success
	}
	return p.failWith(c, function, err)
}
