package mpi

import (
	"context"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// Request is an operation that was started, or one that may be started again and again (see
// Comm.Persistent). It is a small value, of which only one copy may be used. The zero Request is
// inactive, and so is a request whose outcome a call has returned: waiting for it returns at once.
type Request struct {
	p    comm.Pending
	c    *Comm
	elem *element // of a receive
	kept *kept    // of a persistent request
}

// Active tells whether the request is started, and no call has returned its outcome yet.
func (r *Request) Active() bool { return r.p.Engine() != nil }

// Wait waits for the end of the request.
func (r *Request) Wait() (Status, error) {
	s, err := r.p.Wait()
	return r.end(s, err)
}

// WaitContext is Wait for a wait that ends with ctx, too. Then the request goes on: it stays
// active, its buffer is still in use, and a later call may wait for it. The error wraps that of
// ctx, and says whom the rank waited for. A receive may be given up by Cancel.
//
// When a wait ends is decided by timing: see "Replicated programs".
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	s, done, err := r.p.WaitContext(ctx)
	if !done {
		return Status{}, r.c.outcome(err)
	}
	return r.end(s, err)
}

// Test tells whether the request has ended, without waiting. A program that computes need not call
// it to make progress: messages move by themselves.
func (r *Request) Test() (Status, bool, error) {
	s, done, err := r.p.Test()
	if done {
		s, err = r.end(s, err)
	}
	return s, done, err
}

// Cancel gives a receive up that no message has matched, and tells whether it did. Then the request
// ends with ErrCancelled, and a Wait returns at once. Other operations can't be cancelled.
func (r *Request) Cancel() bool { return r.Active() && r.p.Cancel() }

func (r *Request) waitOrWithdraw() (Status, error) {
	if !r.Active() {
		return r.end(Status{}, nil)
	}
	s, err := r.p.WaitOrWithdraw()
	return r.end(s, err)
}

// end is the outcome of the request. It makes the request inactive, unless it goes on.
func (r *Request) end(s Status, err error) (Status, error) {
	if r.c == nil { // it was never started, or with ProcNull
		return Status{Source: ProcNull, Tag: AnyTag}, nil
	}
	if r.elem != nil && r.Active() && (err != nil || s.Type != r.elem.id || s.Bytes%r.elem.size != 0) {
		source, tag := r.p.Peer()
		s, err = r.c.received(r.elem, "Irecv", s, source, tag, err)
	} else if err != nil {
		err = r.c.outcome(err)
	}
	if !goesOn(err) {
		r.p = comm.Pending{}
	}
	return s, err
}

// WaitAll waits for the end of all requests. It returns the first error. If a rank has failed, or a
// communicator is revoked, it returns as soon as one request has an error, and the others stay
// active: they might never end.
func WaitAll(requests ...*Request) error {
	var first error
	for _, r := range requests {
		s, done, err := r.p.WaitUndisturbed()
		if !done {
			return waitDisturbed(requests, first)
		}
		if _, err = r.end(s, err); first == nil {
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

// WaitAllContext is WaitAll for a wait that ends with ctx, too; see Request.WaitContext.
func WaitAllContext(ctx context.Context, requests ...*Request) error {
	for {
		i, _, err := WaitAnyContext(ctx, requests...)
		if i < 0 || err != nil {
			return err
		}
	}
}

// WaitAny waits until one of the requests has ended and returns its index. It
// returns -1 if none is active.
func WaitAny(requests ...*Request) (int, Status, error) {
	return anyOf(requests, (*engine.Engine).WaitAny)
}

// WaitAnyContext is WaitAny for a wait that ends with ctx, too; see Request.WaitContext. Then it
// returns -1 and the error.
func WaitAnyContext(ctx context.Context, requests ...*Request) (int, Status, error) {
	return anyOf(requests, func(e *engine.Engine, hs []engine.Handle) (int, engine.Status, error) {
		return e.WaitAnyContext(ctx, hs)
	})
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
		if err != nil { // a context has ended
			first := requests[indices[0]]
			err = first.c.outcome(first.p.Interrupted(err))
		}
		return -1, Status{}, err
	}
	r := requests[indices[k]]
	st, err := r.p.Outcome(s, err)
	st, err = r.end(st, err)
	return indices[k], st, err
}
