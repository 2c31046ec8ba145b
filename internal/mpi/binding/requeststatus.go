package binding

// RequestGetStatus is MPI_Request_get_status.
func (p *Process) RequestGetStatus(request Request, flag *int32, status *Status) Code {
	if !p.live() {
		return p.outOfTime("MPI_Request_get_status")
	}
	*flag = 1
	r := p.requests.find(request)
	if r == nil || r.state == inactive {
		if r == nil && request != RequestNull {
			return p.noRequest("MPI_Request_get_status", request)
		}
		status.empty()
		return Success
	}
	if !p.isOver(r) {
		*flag = 0
		return Success
	}
	return p.show(r, status)
}

// show is tell for a request whose round goes on.
func (p *Process) show(r *request, status *Status) Code {
	r.fill(status)
	if r.err != nil {
		return p.failWith(r.c, r.function, r.err)
	}
	return Success
}

// RequestGetStatusAny is MPI_Request_get_status_any.
func (p *Process) RequestGetStatusAny(count int32, arrayOfRequests *Request, indx, flag *int32, status *Status) Code {
	l, code := p.listed("MPI_Request_get_status_any", count, arrayOfRequests)
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
	*indx = int32(i)
	p.conclude(l.all[i])
	return p.show(l.all[i], status)
}

// RequestGetStatusAll is MPI_Request_get_status_all.
func (p *Process) RequestGetStatusAll(count int32, arrayOfRequests *Request, flag *int32, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Request_get_status_all", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	*flag = 1
	if !p.allOver(l) {
		*flag = 0
		return Success
	}
	return p.tellAll(l, "MPI_Request_get_status_all", false, arrayOfStatuses)
}

// RequestGetStatusSome is MPI_Request_get_status_some.
func (p *Process) RequestGetStatusSome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	l, code := p.listed("MPI_Request_get_status_some", incount, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	if l.active == 0 {
		*outcount = Undefined
		return Success
	}
	p.firstOver(l)
	return p.tellSome(l, "MPI_Request_get_status_some", false, outcount, arrayOfIndices, arrayOfStatuses)
}
