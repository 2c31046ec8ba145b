package mpi

import (
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// Request is an operation that was started. It is a small value, of which only one copy may be
// used. The zero Request is inactive, and so is a request whose outcome a call has returned:
// waiting for it returns at once.
type Request struct {
	p comm.Pending
}

// Active tells whether no call has returned the outcome of the request yet.
func (r *Request) Active() bool { return r.p.Engine() != nil }

// Wait waits for the end of the request.
func (r *Request) Wait() (Status, error) {
	s, err := r.p.Wait()
	r.end(err)
	return s, err
}

// Test tells whether the request has ended, without waiting. A program that computes need not call
// it to make progress: messages move by themselves.
func (r *Request) Test() (Status, bool, error) {
	s, done, err := r.p.Test()
	if done {
		r.end(err)
	}
	return s, done, err
}

// end makes the request inactive, unless it goes on.
func (r *Request) end(err error) {
	if !goesOn(err) {
		r.p = comm.Pending{}
	}
}

// WaitAll waits for the end of all requests. It returns the first error. If a rank has failed, or a
// communicator is revoked, it returns as soon as one request has an error, and the others stay
// active: they might never end.
func WaitAll(requests ...*Request) error {
	var first error
	for _, r := range requests {
		_, done, err := r.p.WaitUndisturbed()
		if !done {
			return waitDisturbed(requests, first)
		}
		r.end(err)
		if first == nil {
			first = err
		}
	}
	return first
}

// waitDisturbed is WaitAll after a failure.
func waitDisturbed(requests []*Request, first error) error {
	for first == nil {
		i, _, err := WaitAny(requests...)
		if i < 0 {
			break
		}
		first = err
	}
	return first
}

// WaitAny waits until one of the requests has ended and returns its index. It
// returns -1 if none is active.
func WaitAny(requests ...*Request) (int, Status, error) {
	return anyOf(requests, (*engine.Engine).WaitAny)
}

// TestAny does the same as WaitAny without waiting: ok is false if no request has ended yet.
func TestAny(requests ...*Request) (index int, s Status, ok bool, err error) {
	index, s, err = anyOf(requests, (*engine.Engine).TestAny)
	return index, s, index >= 0, err
}

// TestAll tells whether all requests have ended. Only if they have it takes their outcomes, and
// returns the first error.
func TestAll(requests ...*Request) (bool, error) {
	var room [16]engine.Handle
	handles, e := room[:0], (*engine.Engine)(nil)
	for _, r := range requests {
		if r.Active() {
			handles, e = append(handles, r.p.Handle()), r.p.Engine()
		}
	}
	if e != nil && !e.TestAll(handles) {
		return false, nil
	}
	return true, WaitAll(requests...)
}

// anyOf asks the engine about the active requests.
func anyOf(requests []*Request, ask func(*engine.Engine, []engine.Handle) (int, engine.Status, error)) (int, Status, error) {
	var room [16]engine.Handle
	var places [16]int
	handles, indices := room[:0], places[:0]
	var e *engine.Engine
	for i, r := range requests {
		if r.Active() {
			handles, indices, e = append(handles, r.p.Handle()), append(indices, i), r.p.Engine()
		}
	}
	if e == nil {
		return -1, Status{}, nil
	}
	k, s, err := ask(e, handles)
	if k < 0 {
		return -1, Status{}, nil
	}
	r := requests[indices[k]]
	st, err := r.p.Outcome(s, err)
	r.end(err)
	return indices[k], st, err
}
