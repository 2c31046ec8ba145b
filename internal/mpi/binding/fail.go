package binding

import (
	"errors"
	"fmt"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// fail ends a function with an error. It does as the communicator's error handler says, or, for
// an error that concerns no communicator (c is nil), as fallback's says. The text says what is
// wrong, with the value.
func (p *Process) fail(c *communicator, function string, class Code, format string, args ...any) Code {
	if c == nil {
		if c = p.fallback(); c == nil {
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

// fallback is the communicator whose error handler takes the errors that concern no
// communicator. Since MPI 4 that is MPI_COMM_SELF. Before, it was MPI_COMM_WORLD, and most
// programs set only that one's handler: it is the fallback while MPI_COMM_SELF has the default
// handler.
func (p *Process) fallback() *communicator {
	self := p.self.Load()
	if self != nil && self.errhandler.Load() == fatal {
		return p.world.Load()
	}
	return self
}

// failWith is fail for an error of package comm or the layers below it.
func (p *Process) failWith(c *communicator, function string, err error) Code {
	p.awaitEnd(c, err)
	return p.failThere(c, err, func() Code { return p.fail(c, function, classOfError(err), "%s", causeOf(err)) })
}

// ends says whether the communicator's errors end the job.
func (c *communicator) ends() bool {
	return c.errhandler.Load().ends()
}

// lastWords is an error that ends the job when C has said where the program is.
type lastWords struct {
	err process.CallError
	say func() Code
}

// failThere has an error said with the line of the program, if it is one that can't be understood
// without, and ends the job. C looks for the line after Go has returned: it can't see the
// program's stack from below a Go function.
func (p *Process) failThere(c *communicator, err error, say func() Code) Code {
	call := process.CallError(nil)
	if p.host.Locate == 0 || !errors.As(err, &call) || *call.Place() != "" || !c.ends() {
		return say()
	}
	p.lastWords.Store(&lastWords{call, say})
	return p.raised.raise(p.host.Locate, uintptr(c.handle), ErrOther, ErrOther)
}

// LastWords ends the job with the error that waits for where the program is; "" if that is unknown.
func (p *Process) LastWords(where string) {
	if w := p.lastWords.Swap(nil); w != nil {
		*w.err.Place() = where
		w.say()
	}
}

// awaitEnd waits for the end of the job if a lost rank is fatal to it: the launcher knows more
// of the cause.
func (p *Process) awaitEnd(c *communicator, err error) {
	if errors.Is(err, process.ErrRankLost) {
		if c.ends() {
			p.job.AwaitEnd(c.link.inJob(p, err))
		}
	}
}

// causeOf is an error without the parts that fail adds itself.
func causeOf(err error) string {
	if e := (*comm.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// act does as a communicator's error handler says.
func (p *Process) act(c *communicator, code Code, text func() string) Code {
	switch h := c.errhandler.Load(); h {
	case returns:
		return code
	case fatal:
		p.job.Abort(1, text())
		return code
	case aborts:
		p.abort(c, 1, text())
		return code
	default:
		return p.raised.raise(h.fn, uintptr(c.handle), code, code)
	}
}

// outOfTime is the error of a call before MPI_Init, without a session, or after MPI_Finalize. No
// communicator's handler can decide, so the process ends.
func (p *Process) outOfTime(function string) Code {
	why := "is called before MPI_Init"
	if p.state.Load() >= finalising || p.ended.Load() {
		why = "is called after MPI_Finalize"
	}
	p.host.Exit(1, function+" "+why)
	return ErrOther
}
