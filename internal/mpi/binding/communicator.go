package binding

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"banyan/internal/mpi/comm"
)

// communicator is the object of a Comm. It lives as long as an operation uses it: MPI_Comm_free
// ends only the handle.
type communicator struct {
	comm       *comm.Comm  // for point-to-point messages: of an intercommunicator, with the other group
	inter      *comm.Inter // nil: it is an intracommunicator
	handle     Comm
	what       string // in messages: "window" for a window's; "": communicator
	errhandler atomic.Pointer[errhandler]
	name       atomic.Pointer[string]
	info       atomic.Pointer[info]
	attributes attributes
	uses       atomic.Int32 // operations under way, plus 1 until it is freed
	topology   topology     // nil if it has none
	sendBuffer sendBuffer   // for its buffered sends
	session    *session     // that it comes from; nil: from the world
	link       *link        // the connection that it belongs to; nil: the job

	idle atomic.Pointer[collective] // for its next collective call
}

// retain keeps the communicator's contexts open for an operation that goes on after its call,
// even if the program frees the communicator. release ends that.
func (c *communicator) retain() { c.uses.Add(1) }

func (c *communicator) release() {
	if c.uses.Add(-1) == 0 {
		c.free()
	}
}

// free gives up its contexts.
func (c *communicator) free() {
	defer c.link.release()
	if c.inter != nil {
		c.inter.Free()
		return
	}
	c.comm.Free()
}

// everyone is the communicator of all its ranks, in both groups if there are two.
func (c *communicator) everyone() *comm.Comm {
	if c.inter != nil {
		return c.inter.Whole()
	}
	return c.comm
}

// communicator is the object of a handle, nil if it has none: see noComm.
func (p *Process) communicator(h Comm) *communicator {
	switch h {
	case CommWorld:
		return p.world.Load()
	case CommSelf:
		return p.self.Load()
	}
	return p.comms.get(uintptr(h))
}

// noComm is the error of a handle that names no communicator.
func (p *Process) noComm(function string, h Comm) Code {
	if p.state.Load() != running {
		return p.outOfTime(function)
	}
	if h == CommNull {
		return p.fail(nil, function, ErrComm, "the communicator is MPI_COMM_NULL")
	}
	if uintptr(h)&(1<<kindBits-1) == kindComm && kindName(uintptr(h)) != "" {
		return p.fail(nil, function, ErrComm, "the communicator %#x has been freed, or never was one", uintptr(h))
	}
	return p.noHandle(nil, function, ErrComm, "communicator", uintptr(h))
}

// noHandle is the error of any other bad handle.
func (p *Process) noHandle(c *communicator, function string, class Code, what string, h uintptr) Code {
	if is := kindName(h); is != "" && is != "a "+what && is != "an "+what {
		return p.fail(c, function, class, "the %s %#x is the handle of %s", what, h, is)
	}
	return p.fail(c, function, class, "%#x is no %s, or has been freed", h, what)
}

// adopt gives a new communicator a handle.
func (p *Process) adopt(c *communicator) Comm {
	c.uses.Store(1)
	c.handle = Comm(p.comms.add(c))
	if c.handle != 0 {
		c.comm.Publish(uintptr(c.handle))
	}
	return c.handle
}

// forget ends the handle of a communicator.
func (p *Process) forget(c *communicator) {
	p.keepNoted()
	c.comm.Withdraw(uintptr(c.handle))
	p.comms.remove(uintptr(c.handle))
}

// title names a communicator for messages.
func (c *communicator) title() string {
	if n := c.name.Load(); n != nil && *n != "" {
		return *n
	}
	return fmt.Sprintf("%s %#x", cmp.Or(c.what, "communicator"), uintptr(c.handle))
}

// CommRank is MPI_Comm_rank.
func (p *Process) CommRank(comm Comm, rank *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_rank", comm)
	}
	*rank = int32(c.comm.Rank())
	return Success
}

// CommSize is MPI_Comm_size.
func (p *Process) CommSize(comm Comm, size *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_size", comm)
	}
	if *size = int32(c.comm.Size()); c.inter != nil {
		*size = int32(c.inter.LocalSize())
	}
	return Success
}
