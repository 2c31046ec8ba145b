package binding

import (
	"errors"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// Revoking, agreeing and shrinking (ULFM). The functions have no number in the standard's ABI yet:
// mpi-ext.h declares them.

// CommRevoke is MPIX_Comm_revoke.
func (p *Process) CommRevoke(comm Comm) Code {
	const function = "MPIX_Comm_revoke"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if err := c.comm.Revoke(); err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// CommIsRevoked is MPIX_Comm_is_revoked.
func (p *Process) CommIsRevoked(comm Comm, flag *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPIX_Comm_is_revoked", comm)
	}
	*flag = truth(c.comm.Revoked())
	return Success
}

// keyStrict is the hint for agreements that return when all live members have the outcome.
const keyStrict = "banyan_strict_agreement"

// keyResilient is the hint for small collectives that survive the failure of ranks.
const keyResilient = "banyan_resilient"

// heed does as a communicator's new hints want it.
func (c *communicator) heed() {
	if c.inter != nil {
		return // collectives between groups aren't resilient
	}
	value, _ := c.info.Load().get(keyResilient)
	c.comm.SetResilient(value == "true")
}

// agreeing is the communicator for an agreement as its hints want it.
func (c *communicator) agreeing() *comm.Comm {
	strict, _ := c.info.Load().get(keyStrict)
	all := c.everyone()
	all.SetStrict(strict == "true")
	return all
}

// CommAgree is MPIX_Comm_agree.
func (p *Process) CommAgree(comm Comm, flag *int32) Code {
	const function = "MPIX_Comm_agree"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	agree := c.agreeing().Agree
	if c.inter != nil {
		agree = c.inter.Agree
	}
	flags, err := agree(uint32(*flag))
	*flag = int32(flags)
	if err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// CommIagree is MPIX_Comm_iagree.
func (p *Process) CommIagree(comm Comm, flag *int32, request *Request) Code {
	const function = "MPIX_Comm_iagree"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	agree := c.agreeing().Iagree
	if c.inter != nil {
		agree = c.inter.Iagree
	}
	a := agree(uint32(*flag))
	return p.startRequest(c, function, a.Handle(), &agreeing{a, flag}, request)
}

// agreeing is the work of MPIX_Comm_iagree.
type agreeing struct {
	agreement comm.Agreement
	flag      *int32
}

func (a *agreeing) finish(_ *request, _ engine.Status, err error) error {
	flags, err := a.agreement.Flags(err)
	*a.flag = int32(flags)
	return err
}

func (a *agreeing) free() error { return nil }

// CommAgreeFailed is MPIX_Comm_agree_failed: a group of failed ranks, the same at all.
func (p *Process) CommAgreeFailed(comm Comm, failedgrp *Group) Code {
	const function = "MPIX_Comm_agree_failed"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	failed, err := c.agreeing().AgreeFailed()
	if err != nil {
		return p.failWith(c, function, err)
	}
	return p.failedGroup(function, c, failed, failedgrp)
}

// CommShrink is MPIX_Comm_shrink. The new communicator has the error handler of the old one, and no
// attributes, hints or topology.
func (p *Process) CommShrink(comm Comm, newcomm *Comm) Code {
	const function = "MPIX_Comm_shrink"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if all := c.agreeing(); c.inter != nil {
		a := all.Ishrink()
		_, err := all.Engine().Wait(a.Handle())
		inner, err := c.inter.Shrunk(a, err)
		return p.finishInter(function, c, inner, err, newcomm)
	}
	inner, err := c.agreeing().Shrink()
	return p.finish(function, c, inner, err, newcomm)
}

// CommRefill is MPIX_Comm_refill. The new communicator has the error handler of the old one, and no
// attributes, hints or topology.
func (p *Process) CommRefill(comm Comm, newcomm *Comm) Code {
	const function = "MPIX_Comm_refill"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	inner, err := c.agreeing().Refill()
	return p.finish(function, c, inner, err, newcomm)
}

// CommIshrink is MPIX_Comm_ishrink.
func (p *Process) CommIshrink(comm Comm, newcomm *Comm, request *Request) Code {
	*newcomm = CommNull
	return p.ishrink(comm, func(h Comm) { *newcomm = h }, request)
}

// CommIshrinkNumber is MPIX_Comm_ishrink for Fortran, where handles are numbers.
func (p *Process) CommIshrinkNumber(comm Comm, newcomm *int32, request *Request) Code {
	*newcomm = int32(CommNull)
	return p.ishrink(comm, func(h Comm) { *newcomm = int32(h) }, request)
}

func (p *Process) ishrink(comm Comm, made func(h Comm), request *Request) Code {
	const function = "MPIX_Comm_ishrink"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	a := c.agreeing().Ishrink()
	return p.startRequest(c, function, a.Handle(), &shrinking{p, a, made}, request)
}

// shrinking is the work of MPIX_Comm_ishrink.
type shrinking struct {
	p         *Process
	agreement comm.Agreement
	made      func(h Comm) // takes the new communicator
}

func (s *shrinking) finish(r *request, _ engine.Status, err error) error {
	made, err := s.shrunk(r.c, err)
	if err != nil || made == nil {
		return err
	}
	if h := s.p.adopt(made); h != 0 {
		s.made(h)
		return nil
	}
	made.free()
	return errHandles
}

// shrunk is the new communicator, nil if one of the groups of an intercommunicator is gone.
func (s *shrinking) shrunk(parent *communicator, err error) (*communicator, error) {
	if parent.inter != nil {
		inner, err := parent.inter.Shrunk(s.agreement, err)
		if err != nil || inner == nil {
			return nil, err
		}
		return s.p.newInter(parent, inner), nil
	}
	inner, err := s.agreement.Shrunk(err)
	if err != nil {
		return nil, err
	}
	return s.p.newCommunicator(parent, inner), nil
}

// errHandles says that a communicator gets no handle.
var errHandles = errors.New("there are too many communicators")

func (s *shrinking) free() error { return nil }
