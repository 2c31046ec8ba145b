package binding

import (
	"errors"
	"fmt"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// fail ends a function with an error: it does what the communicator's error
// handler says, or, for errors that concern no communicator (c is nil), what nobody's
// does. The text says what is wrong, with the value.
func (p *Process) fail(c *communicator, function string, class Code, format string, args ...any) Code {
	if c == nil {
		if c = p.nobody(); c == nil {
			return p.outOfTime(function)
		}
		return p.act(c, class, func() string {
			return fmt.Sprintf("%s, rank %d: %s (%s)", function, p.worldRank(), fmt.Sprintf(format, args...), className(class))
		})
	}
	return p.act(c, class, func() string {
		return fmt.Sprintf("%s on %s, rank %d: %s (%s)", function, c.title(), c.comm.Rank(), fmt.Sprintf(format, args...), className(class))
	})
}

// nobody is the communicator whose error handler is for what concerns none: since MPI 4
// MPI_COMM_SELF. Before it was the world, and most programs know no other: it stands
// in where the program has set its handler only.
func (p *Process) nobody() *communicator {
	self := p.self.Load()
	if self != nil && self.errhandler.Load() == fatal {
		return p.world.Load()
	}
	return self
}

// failWith is fail for an error of the machinery below.
func (p *Process) failWith(c *communicator, function string, err error) Code {
	p.awaitEnd(c, err)
	return p.fail(c, function, classOfError(err), "%s", causeOf(err))
}

// awaitEnd waits for the end of the job if an error brings it about that the launcher can
// tell of better.
func (p *Process) awaitEnd(c *communicator, err error) {
	if errors.Is(err, process.ErrRankLost) {
		if h := c.errhandler.Load(); h == fatal || h == aborts {
			p.job.AwaitEnd()
		}
	}
}

// causeOf strips what fail says itself from an error.
func causeOf(err error) string {
	if e := (*comm.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// act does what a communicator's error handler says.
func (p *Process) act(c *communicator, code Code, text func() string) Code {
	switch h := c.errhandler.Load(); h {
	case returns:
		return code
	case fatal, aborts:
		p.job.Abort(1, text())
		return code
	default:
		return p.raised.raise(h.fn, uintptr(c.handle), code, code)
	}
}

// outOfTime is the error of a call before MPI_Init or after MPI_Finalize. There
// is no communicator whose handler could say otherwise: it ends the process.
func (p *Process) outOfTime(function string) Code {
	why := "is called before MPI_Init"
	if p.state.Load() >= finalising {
		why = "is called after MPI_Finalize"
	}
	p.host.Exit(1, function+" "+why)
	return ErrOther
}

// Unsupported is what a function does that isn't implemented. comm is a
// communicator of its arguments, or 0.
func (p *Process) Unsupported(function string, comm Comm) Code {
	var c *communicator
	if comm != 0 {
		if c = p.communicator(comm); c == nil {
			return p.noComm(function, comm)
		}
	}
	return p.fail(c, function, ErrUnsupportedOperation, "Banyan doesn't implement this function yet")
}
