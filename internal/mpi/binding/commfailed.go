package binding

import "banyan/internal/proto"

// What a rank knows of failed members of a communicator (ULFM). It is local: other ranks may know
// more, or less, or know it in another order.

// CommGetFailed is MPIX_Comm_get_failed.
func (p *Process) CommGetFailed(comm Comm, failedgrp *Group) Code {
	const function = "MPIX_Comm_get_failed"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	return p.failedGroup(function, c, c.comm.Failed(), failedgrp)
}

// CommAckFailed is MPIX_Comm_ack_failed. It acknowledges the first numToAck members of the group
// of MPIX_Comm_get_failed, and gives how many are acknowledged.
func (p *Process) CommAckFailed(comm Comm, numToAck int32, numAcked *int32) Code {
	const function = "MPIX_Comm_ack_failed"
	c := p.communicator(comm)
	switch {
	case c == nil:
		return p.noComm(function, comm)
	case numToAck < 0 || int(numToAck) > c.everyone().Size():
		return p.fail(c, function, ErrArg, "%d failures are to be acknowledged, in a communicator of %d ranks", numToAck, c.everyone().Size())
	}
	*numAcked = int32(c.comm.AckFailed(int(numToAck)))
	return Success
}

// CommFailureAck is MPIX_Comm_failure_ack: it acknowledges all failures that are known here.
func (p *Process) CommFailureAck(comm Comm) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPIX_Comm_failure_ack", comm)
	}
	c.comm.AckFailed(c.everyone().Size())
	return Success
}

// CommFailureGetAcked is MPIX_Comm_failure_get_acked.
func (p *Process) CommFailureGetAcked(comm Comm, failedgrp *Group) Code {
	const function = "MPIX_Comm_failure_get_acked"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	return p.failedGroup(function, c, c.comm.Failed()[:c.comm.AckFailed(0)], failedgrp)
}

func (p *Process) failedGroup(function string, c *communicator, ranks []proto.Rank, to *Group) Code {
	h := p.newGroup(p.outside(c, ranks), c.session)
	if h == 0 {
		return p.fail(c, function, ErrNoMem, "there are too many groups")
	}
	*to = h
	return Success
}
