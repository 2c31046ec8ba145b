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
		if !p.concludeUndisturbed(r) {
			p.concludeDisturbed(l)
			break
		}
		if errors.Is(r.err, process.ErrFinished) && r.c.ends() {
			return p.failedIn("MPI_Waitall", failure{r.c, r.function, r.err}) // the others may never end
		}
	}
	return p.reportAll(l, "MPI_Waitall", true, arrayOfStatuses)
}

// concludeDisturbed takes outcomes until one of the requests has failed, or all are over: after a
// failure the others may never end.
func (p *Process) concludeDisturbed(l *list) {
	for !p.concludeOver(l) {
		met := l.awaitActive()
		for _, r := range l.all {
			if r != nil && !met { // the engine is closed
				p.conclude(r)
			}
		}
	}
}

// concludeOver takes the outcomes of the requests that are over. It tells whether one has failed,
// or all are over.
func (p *Process) concludeOver(l *list) bool {
	l.look(func(i int, over bool) {
		if r := l.all[i]; r.state == active {
			r.err, r.seenOver = nil, over
		}
	})
	failed, left := false, false
	for _, r := range l.all {
		if r == nil {
			continue
		}
		if r.state == active && r.seenOver {
			p.conclude(r)
		}
		failed = failed || r.err != nil
		left = left || r.state == active
	}
	return failed || !left
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
	switch e := p.job.Engine(); {
	case e.Led():
		if !l.everyLed(e) {
			return false
		}
	case !l.allOver():
		return l.disturbed() && p.concludeOver(l)
	}
	for _, r := range l.all {
		if r != nil {
			p.conclude(r)
		}
	}
	return true
}

// reportAll reports all requests of a list. They are over, or one of them has failed.
func (p *Process) reportAll(l *list, function string, retire bool, statuses *Status) Code {
	var failed failure
	for i, r := range l.all {
		s := statusAt(statuses, i)
		if r == nil {
			s.empty()
			continue
		}
		if r.state != active {
			r.fill(s)
		}
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
