package binding

import "unsafe"

// Waitsome is MPI_Waitsome.
func (p *Process) Waitsome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	l, code := p.requestList("MPI_Waitsome", incount, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	if l.active == 0 {
		*outcount = Undefined
		return Success
	}
	if arrayOfIndices == nil {
		return p.Null("MPI_Waitsome", "array_of_indices")
	}
	l.awaitFirst()
	return p.reportSome(l, "MPI_Waitsome", true, outcount, arrayOfIndices, arrayOfStatuses)
}

// Testsome is MPI_Testsome.
func (p *Process) Testsome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	return p.testSome("MPI_Testsome", incount, arrayOfRequests, true, outcount, arrayOfIndices, arrayOfStatuses)
}

// RequestGetStatusSome is MPI_Request_get_status_some.
func (p *Process) RequestGetStatusSome(incount int32, arrayOfRequests *Request, outcount, arrayOfIndices *int32, arrayOfStatuses *Status) Code {
	return p.testSome("MPI_Request_get_status_some", incount, arrayOfRequests, false, outcount, arrayOfIndices, arrayOfStatuses)
}

func (p *Process) testSome(function string, count int32, requests *Request, retire bool, outcount, indices *int32, statuses *Status) Code {
	l, code := p.requestList(function, count, requests)
	if l == nil {
		return code
	}
	defer l.give()
	if l.active == 0 {
		*outcount = Undefined
		return Success
	}
	if indices == nil {
		return p.Null(function, "array_of_indices")
	}
	l.firstOver()
	return p.reportSome(l, function, retire, outcount, indices, statuses)
}

// reportSome reports the requests of a list that are over.
func (p *Process) reportSome(l *list, function string, retire bool, outcount, indices *int32, statuses *Status) Code {
	if e := p.job.Engine(); e.Led() {
		l.keepOverLed(e)
	} else {
		l.look(func(i int, over bool) {
			if !over {
				l.all[i] = nil
			}
		})
	}
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
