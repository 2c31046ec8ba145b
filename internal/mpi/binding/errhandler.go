package binding

import "sync"

// errhandler is an error handler. The predefined ones have no function.
type errhandler struct {
	fixed  Errhandler // of a predefined one
	object int        // the kind of handle it is for
	fn     uintptr

	// References of the program, and the handle while there are any. A freed handler stays in
	// the objects that use it. Guarded by Process.mu.
	refs   int
	handle Errhandler
}

var (
	fatal   = &errhandler{fixed: ErrorsAreFatal}
	aborts  = &errhandler{fixed: ErrorsAbort}
	returns = &errhandler{fixed: ErrorsReturn}
)

// ends says whether errors end processes.
func (e *errhandler) ends() bool { return e == fatal || e == aborts }

// raisedCode is the first of the codes that ask the C side to call an error handler after Go
// has returned, and then to return another code. So the handler may jump out of the call.
const raisedCode Code = 1 << 24

// raisedErrors are the calls of error handlers that the C side hasn't made yet.
type raisedErrors struct {
	mu    sync.Mutex
	slots []raised
	free  []int
}

type raised struct {
	fn, object  uintptr
	code, after Code
}

// raise asks for a call of a handler. after is the code that the MPI function returns then.
func (r *raisedErrors) raise(fn, object uintptr, code, after Code) Code {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		i := r.free[n-1]
		r.free = r.free[:n-1]
		r.slots[i] = raised{fn, object, code, after}
		return raisedCode + Code(i)
	}
	r.slots = append(r.slots, raised{fn, object, code, after})
	return raisedCode + Code(len(r.slots)-1)
}

// instead has a function that fails return another code than its error handler gets.
func (r *raisedErrors) instead(code, after Code) Code {
	if code < raisedCode {
		return after
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots[code-raisedCode].after = after
	return code
}

// Raised tells the C side which handler a code above raisedCode stands for: its
// function, the object's handle, the error code, and what to return after it.
func (p *Process) Raised(code Code) (fn, object uintptr, err, after Code) {
	r := &p.raised
	r.mu.Lock()
	defer r.mu.Unlock()
	i := int(code - raisedCode)
	s := r.slots[i]
	r.free = append(r.free, i)
	return s.fn, s.object, s.code, s.after
}

// errhandler is the object of a handle, nil if it has none.
func (p *Process) errhandler(h Errhandler) *errhandler {
	switch h {
	case ErrorsAreFatal:
		return fatal
	case ErrorsAbort:
		return aborts
	case ErrorsReturn:
		return returns
	}
	return p.errhandlers.get(uintptr(h))
}

// handlerFor is the error handler that a function gives to an object of a kind; nil, with an error
// on c, if it isn't one for such objects.
func (p *Process) handlerFor(kind int, c *communicator, function string, h Errhandler) (*errhandler, Code) {
	e := p.errhandler(h)
	switch {
	case e == nil:
		return nil, p.noHandle(c, function, ErrErrhandler, "error handler", uintptr(h))
	case e.fixed == 0 && e.object != kind:
		return nil, p.fail(c, function, ErrErrhandler, "the error handler is not one for %s", handledBy[kind])
	}
	return e, Success
}

// handledBy are the objects that have error handlers, by kind.
var handledBy = map[int]string{kindComm: "communicators", kindWin: "windows", kindFile: "files", kindSession: "sessions"}

// refer gives the program one more reference to a handler.
func (p *Process) refer(e *errhandler) Errhandler {
	if e.fixed != 0 {
		return e.fixed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.refs == 0 {
		e.handle = Errhandler(p.errhandlers.add(e))
	}
	e.refs++
	return e.handle
}

// CommCreateErrhandler is MPI_Comm_create_errhandler.
func (p *Process) CommCreateErrhandler(commErrhandlerFn uintptr, errhandler *Errhandler) Code {
	return p.createErrhandler(kindComm, commErrhandlerFn, errhandler)
}

// WinCreateErrhandler is MPI_Win_create_errhandler.
func (p *Process) WinCreateErrhandler(winErrhandlerFn uintptr, errhandler *Errhandler) Code {
	return p.createErrhandler(kindWin, winErrhandlerFn, errhandler)
}

// FileCreateErrhandler is MPI_File_create_errhandler.
func (p *Process) FileCreateErrhandler(fileErrhandlerFn uintptr, errhandler *Errhandler) Code {
	return p.createErrhandler(kindFile, fileErrhandlerFn, errhandler)
}

// SessionCreateErrhandler is MPI_Session_create_errhandler.
func (p *Process) SessionCreateErrhandler(sessionErrhandlerFn uintptr, errhandler *Errhandler) Code {
	return p.createErrhandler(kindSession, sessionErrhandlerFn, errhandler)
}

func (p *Process) createErrhandler(kind int, fn uintptr, h *Errhandler) Code {
	*h = p.refer(&errhandler{object: kind, fn: fn})
	return Success
}

// CommSetErrhandler is MPI_Comm_set_errhandler. A program that handles errors goes on when a
// rank is lost, as far as it can without that rank.
func (p *Process) CommSetErrhandler(comm Comm, errhandler Errhandler) Code {
	const function = "MPI_Comm_set_errhandler"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	e, code := p.handlerFor(kindComm, c, function, errhandler)
	if e == nil {
		return code
	}
	c.errhandler.Store(e)
	p.takes(e)
	return Success
}

// takes says that the program has set an error handler, so that it may go on after a loss.
func (p *Process) takes(e *errhandler) {
	if !e.ends() && !p.survives.Swap(true) {
		p.job.Survive()
	}
}

// CommGetErrhandler is MPI_Comm_get_errhandler.
func (p *Process) CommGetErrhandler(comm Comm, errhandler *Errhandler) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_get_errhandler", comm)
	}
	*errhandler = p.refer(c.errhandler.Load())
	return Success
}

// CommCallErrhandler is MPI_Comm_call_errhandler.
func (p *Process) CommCallErrhandler(comm Comm, errorcode int32) Code {
	const function = "MPI_Comm_call_errhandler"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	return p.callErrhandler(c, function, errorcode)
}

// callErrhandler has the error handler of a communicator or a window called.
func (p *Process) callErrhandler(c *communicator, function string, errorcode int32) Code {
	switch h := c.errhandler.Load(); h {
	case returns:
		return Success
	case fatal, aborts:
		text, _ := p.codes.describe(Code(errorcode))
		return p.fail(c, function, Code(errorcode), "%s", text)
	default:
		return p.raised.raise(h.fn, uintptr(c.handle), Code(errorcode), Success)
	}
}

// ErrhandlerFree is MPI_Errhandler_free.
func (p *Process) ErrhandlerFree(errhandler *Errhandler) Code {
	const function = "MPI_Errhandler_free"
	e := p.errhandler(*errhandler)
	if e == nil {
		return p.noHandle(nil, function, ErrErrhandler, "error handler", uintptr(*errhandler))
	}
	if e.fixed == 0 {
		p.mu.Lock()
		if e.refs--; e.refs == 0 {
			p.errhandlers.remove(uintptr(e.handle))
		}
		p.mu.Unlock()
	}
	*errhandler = ErrhandlerNull
	return Success
}
