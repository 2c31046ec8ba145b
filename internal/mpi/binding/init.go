package binding

import (
	"fmt"
	"syscall"
	"unsafe"

	"banyan/internal/mpi/comm"
)

// Init is MPI_Init.
func (p *Process) Init(argc *int32, argv unsafe.Pointer) Code {
	return p.initialise("MPI_Init", ThreadSingle)
}

// InitThread is MPI_Init_thread. Every level is provided, but no more than MPI_THREAD_SERIALIZED
// in leader order if that can't order threads. With --order auto a rank that asks for more stays
// in free order.
func (p *Process) InitThread(argc *int32, argv unsafe.Pointer, required int32, provided *int32) Code {
	switch required {
	case ThreadSingle, ThreadFunneled, ThreadSerialized, ThreadMultiple:
	default:
		p.host.Exit(1, fmt.Sprintf("MPI_Init_thread: %d is no level of thread support", required))
		return ErrArg
	}
	code := p.initialise("MPI_Init_thread", required)
	if provided != nil && code == Success {
		*provided = p.level
	}
	return code
}

func (p *Process) initialise(function string, level int32) Code {
	if p.began.Swap(true) {
		if p.state.Load() >= finalising || p.ended.Load() {
			return p.outOfTime(function)
		}
		return p.fail(nil, function, ErrOther, "the library is initialised already")
	}
	code := p.join(function, level)
	p.tellExit()
	return code
}

// join makes this process part of the job, unless a session, or MPI_Init, has done so, and sees to
// the level of thread support.
func (p *Process) join(function string, level int32) Code {
	p.joining.Lock()
	defer p.joining.Unlock()
	switch s := p.state.Load(); {
	case s >= finalising:
		return p.outOfTime(function)
	case s == running:
		if level > p.level {
			p.support(level)
		}
		return Success
	}
	p.state.Store(initialising)
	job, err := p.host.Join(p.Heard)
	if err != nil {
		p.host.Exit(1, fmt.Sprintf("%s: %v", function, err))
		return ErrOther
	}
	p.job, p.thread = job, syscall.Gettid()
	if err := p.openWorld(); err != nil {
		job.Abort(1, fmt.Sprintf("%s: %v", function, err))
		return ErrOther
	}
	p.support(level)
	p.heard.begin(job.Engine())
	p.state.Store(running)
	if err := p.meetParent(); err != nil {
		job.Abort(1, fmt.Sprintf("%s: the processes that have spawned this job can't be reached: %v", function, err))
		return ErrOther
	}
	return Success
}

// support sees to a level of thread support, or to the next lower one that there is.
func (p *Process) support(level int32) {
	e := p.job.Engine()
	if level == ThreadMultiple {
		e.StayFree()
		if e.Led() {
			switch {
			case !e.OrderThreads():
				level = ThreadSerialized
			case p.host.ThreadsLed != nil:
				p.host.ThreadsLed()
			}
		}
	}
	p.level = level
	if level == ThreadMultiple {
		e.ManyThreads()
	} else {
		e.OneThread()
	}
}

// openWorld makes the predefined communicators.
func (p *Process) openWorld() error {
	first := p.errhandler(p.job.InitialErrhandler())
	if !first.ends() && !p.survives.Swap(true) {
		p.job.Survive()
	}
	for _, w := range []struct {
		open   func() (*comm.Comm, error)
		handle Comm
		name   string
		to     interface{ Store(*communicator) }
	}{
		{func() (*comm.Comm, error) { return comm.World(p.job.Engine()) }, CommWorld, "MPI_COMM_WORLD", &p.world},
		{func() (*comm.Comm, error) { return comm.Self(p.job.Engine()) }, CommSelf, "MPI_COMM_SELF", &p.self},
	} {
		inner, err := w.open()
		if err != nil {
			return err
		}
		c := &communicator{comm: inner, handle: w.handle}
		c.uses.Store(1)
		c.name.Store(&w.name)
		c.errhandler.Store(first)
		w.to.Store(c)
		inner.Publish(uintptr(w.handle))
	}
	p.openFileless()
	p.job.Engine().SetSizes((*[256]uint8)(&p.plain))
	p.describeWorld(p.world.Load().comm.Size())
	return nil
}

// Initialized is MPI_Initialized.
func (p *Process) Initialized(flag *int32) Code {
	*flag = truth(p.began.Load() && p.state.Load() >= running)
	return Success
}

// Finalize is MPI_Finalize. A process that has used sessions leaves the job later; see Exits.
func (p *Process) Finalize() Code {
	const function = "MPI_Finalize"
	if !p.live() || !p.began.Load() || p.ended.Load() {
		return p.outOfTime(function)
	}
	// The standard lets programs clean up in these delete functions.
	self := p.self.Load()
	if code := p.deleteAttributes(&self.attributes, uintptr(CommSelf)); code != Success {
		return p.callbackFailed(self, function, "delete", code)
	}
	p.toolSample() // the last one: tools may read it afterwards
	if p.sessions.used.Load() {
		p.ended.Store(true)
		p.tellExit()
		return Success
	}
	if !p.state.CompareAndSwap(running, finalising) {
		return p.outOfTime(function)
	}
	return p.leave(function)
}

// leave leaves the job, together with all other processes.
func (p *Process) leave(function string) Code {
	p.leaveWindows()
	err := p.job.Leave()
	p.ended.Store(true)
	p.state.Store(finalised)
	p.world.Store(nil)
	p.self.Store(nil)
	if err != nil {
		p.host.Exit(1, fmt.Sprintf("%s: %v", function, err))
		return ErrOther
	}
	return Success
}

// live says that the process is between MPI_Init and MPI_Finalize.
func (p *Process) live() bool { return p.state.Load() == running }

// Finalized is MPI_Finalized.
func (p *Process) Finalized(flag *int32) Code {
	*flag = truth(p.ended.Load())
	return Success
}

// Abort is MPI_Abort. It ends the ranks of the communicator, if the program handles the loss of
// ranks, and else the whole job. Before MPI_Init and after MPI_Finalize it ends this process.
func (p *Process) Abort(comm Comm, errorcode int32) Code {
	if p.state.Load() != running {
		p.host.Exit(int(errorcode), fmt.Sprintf("MPI_Abort(%d) outside a job", errorcode))
		return ErrOther
	}
	p.abort(p.communicator(comm), int(errorcode), "MPI_Abort")
	return ErrOther
}

// abort ends the ranks of a communicator; nil: all.
func (p *Process) abort(c *communicator, code int, why string) {
	switch {
	case c != nil && c.link != nil:
		c.link.conn.Abort(code)
		p.job.Abort(code, why)
	case c == nil || c.everyone().Size() == p.world.Load().comm.Size():
		p.job.Abort(code, why)
	default:
		if p.host.Flush != nil {
			p.host.Flush()
		}
		p.job.AbortRanks(c.everyone().Ranks(), code, why)
	}
}

// QueryThread is MPI_Query_thread.
func (p *Process) QueryThread(provided *int32) Code {
	if p.state.Load() == fresh {
		return p.outOfTime("MPI_Query_thread")
	}
	*provided = p.level
	return Success
}

// IsThreadMain is MPI_Is_thread_main.
func (p *Process) IsThreadMain(flag *int32) Code {
	if p.state.Load() == fresh {
		return p.outOfTime("MPI_Is_thread_main")
	}
	*flag = truth(syscall.Gettid() == p.thread)
	return Success
}
