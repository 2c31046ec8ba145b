package binding

// Errors of calls in which NULL stands where a result is to be stored. The entry points of C
// find them before a method is called: abi/generate knows which parameters these are.

// Null is the error of a function without an object that has an error handler.
func (p *Process) Null(function, argument string) Code { return p.null(nil, function, argument) }

// NullForComm is that of a communicator's function.
func (p *Process) NullForComm(function, argument string, h Comm) Code {
	return p.null(p.communicator(h), function, argument)
}

// NullForWin is that of a window's function.
func (p *Process) NullForWin(function, argument string, h Win) Code {
	if w := p.window(h); w != nil {
		return p.null(&w.communicator, function, argument)
	}
	return p.null(nil, function, argument)
}

// NullForFile is that of a file's function.
func (p *Process) NullForFile(function, argument string, h File) Code {
	if f := p.file(h); f != nil {
		return p.null(&f.communicator, function, argument)
	}
	return p.null(nil, function, argument)
}

func (p *Process) null(c *communicator, function, argument string) Code {
	if c == nil && p.fallback() == nil { // before MPI_Init there is no handler
		return ErrArg
	}
	return p.fail(c, function, ErrArg, "the argument %s is NULL", argument)
}

// NullForSession is that of a session's function.
func (p *Process) NullForSession(function, argument string, h Session) Code {
	if s := p.session(h); s != nil {
		return p.null(&s.communicator, function, argument)
	}
	return p.null(nil, function, argument)
}
