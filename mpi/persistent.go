package mpi

import (
	"errors"

	"banyan/internal/mpi/comm"
)

// ErrPersistent says that a request can't be started: it isn't persistent, or it is active.
var ErrPersistent = errors.New("the request isn't one that can be started now")

// kept is what a persistent request starts.
type kept struct {
	start func() (comm.Pending, error) // nil: with ProcNull there is nothing to do
	free  func()
}

// Persistent is the same communicator, but Isend, Irecv and the collectives whose names begin with
// I only prepare their operations there. The requests that they return are inactive until Start,
// may be started again each time that they have ended, and keep their buffers until Free. A loop
// that exchanges the same data again and again saves the preparation.
//
// All ranks prepare the collectives of a communicator in the same order. They may start them in
// different orders.
func (c *Comm) Persistent() *Comm {
	d := *c
	d.keeps = true
	return &d
}

// once is the communicator on which operations start at once.
func (c *Comm) once() *Comm {
	if !c.keeps {
		return c
	}
	d := *c
	d.keeps = false
	return &d
}

// keep is a persistent request of a send or receive.
func (c *Comm) keep(e *element, peer int, start func() (comm.Pending, error)) (Request, error) {
	if peer == ProcNull {
		start = nil
	}
	return Request{c: c, elem: e, kept: &kept{start: start, free: func() {}}}, nil
}

// Start starts a persistent request.
func (r *Request) Start() error {
	if r.kept == nil || r.Active() {
		return &Error{Op: "Start", Rank: r.rank(), Peer: comm.NoPeer, Err: ErrPersistent}
	}
	if r.kept.start == nil {
		return nil
	}
	p, err := r.kept.start()
	if err != nil {
		return r.c.outcome(err)
	}
	r.p = p
	return nil
}

// StartAll starts persistent requests, in their order. It stops at the first error.
func StartAll(requests ...*Request) error {
	for _, r := range requests {
		if err := r.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Free gives a persistent request up, which must not be active.
func (r *Request) Free() error {
	if r.kept == nil || r.Active() {
		return &Error{Op: "Free", Rank: r.rank(), Peer: comm.NoPeer, Err: ErrPersistent}
	}
	r.kept.free()
	*r = Request{}
	return nil
}

func (r *Request) rank() int {
	if r.c == nil {
		return 0
	}
	return r.c.Rank()
}
