package binding

// Waitany is MPI_Waitany.
func (p *Process) Waitany(count int32, arrayOfRequests *Request, indx *int32, status *Status) Code {
	l, code := p.requestList("MPI_Waitany", count, arrayOfRequests)
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
	if e := p.job.Engine(); e.Led() {
		i = l.firstLed(e, true)
	} else {
		i = l.awaitFirst()
	}
	return p.reportOne(l, max(i, 0), true, indx, status)
}

// Testany is MPI_Testany.
func (p *Process) Testany(count int32, arrayOfRequests *Request, indx, flag *int32, status *Status) Code {
	return p.testAny("MPI_Testany", count, arrayOfRequests, true, indx, flag, status)
}

// RequestGetStatusAny is MPI_Request_get_status_any.
func (p *Process) RequestGetStatusAny(count int32, arrayOfRequests *Request, indx, flag *int32, status *Status) Code {
	return p.testAny("MPI_Request_get_status_any", count, arrayOfRequests, false, indx, flag, status)
}

func (p *Process) testAny(function string, count int32, requests *Request, retire bool, indx, flag *int32, status *Status) Code {
	l, code := p.requestList(function, count, requests)
	if l == nil {
		return code
	}
	defer l.give()
	*indx, *flag = Undefined, 1
	if l.active == 0 {
		status.empty()
		return Success
	}
	i := -1
	if e := p.job.Engine(); e.Led() {
		i = l.firstLed(e, false)
	} else {
		i = l.firstOver()
	}
	if i < 0 {
		*flag = 0
		return Success
	}
	return p.reportOne(l, i, retire, indx, status)
}

// reportOne is report for one request of a list.
func (p *Process) reportOne(l *list, i int, retire bool, indx *int32, status *Status) Code {
	for i < len(l.all)-1 && l.all[i] == nil { // only if the engine was closed meanwhile
		i++
	}
	*indx = int32(i)
	p.conclude(l.all[i])
	return p.report(l.all[i], &l.handles[i], retire, status)
}
