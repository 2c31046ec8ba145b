package binding

import (
	"errors"

	"banyan/internal/runtime/process"
)

// Waitall is MPI_Waitall.
func (p *Process) Waitall(count int32, arrayOfRequests *Request, arrayOfStatuses *Status) Code {
	l, code := p.requestList("MPI_Waitall", count, arrayOfRequests)
	if l == nil {
		return code
	}
	defer l.give()
	for _, r := range l.all {
		if r == nil {
			continue
		}
		p.conclude(r)
		if errors.Is(r.err, process.ErrFinished) && r.c.ends() {
			return p.failedIn("MPI_Waitall", failure{r.c, r.function, r.err}) // the others may never end
		}
	}
	return p.reportAll(l, "MPI_Waitall", true, arrayOfStatuses)
}

// Testall is MPI_Testall.
func (p *Process) Testall(count int32, arrayOfRequests *Request, flag *int32, arrayOfStatuses *Status) Code {
	return p.testAll("MPI_Testall", count, arrayOfRequests, true, flag, arrayOfStatuses)
}

// RequestGetStatusAll is MPI_Request_get_status_all.
func (p *Process) RequestGetStatusAll(count int32, arrayOfRequests *Request, flag *int32, arrayOfStatuses *Status) Code {
	return p.testAll("MPI_Request_get_status_all", count, arrayOfRequests, false, flag, arrayOfStatuses)
}

func (p *Process) testAll(function string, count int32, requests *Request, retire bool, flag *int32, statuses *Status) Code {
	l, code := p.requestList(function, count, requests)
	if l == nil {
		return code
	}
	defer l.give()
	*flag = 1
	if !p.allOver(l) {
		*flag = 0
		return Success
	}
	return p.reportAll(l, function, retire, statuses)
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

// reportAll reports all requests of a list, which are over.
func (p *Process) reportAll(l *list, function string, retire bool, statuses *Status) Code {
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
