package binding

import "unsafe"

// SessionAttachBuffer is MPI_Session_attach_buffer. The buffer serves the communicators that were
// made from the session's groups, and those made from these.
func (p *Process) SessionAttachBuffer(session Session, buffer unsafe.Pointer, size int64) Code {
	const function = "MPI_Session_attach_buffer"
	s := p.session(session)
	if s == nil {
		return p.noSession(function, session)
	}
	return p.attach(&s.communicator, &s.sendBuffer, function, buffer, size)
}

// SessionDetachBuffer is MPI_Session_detach_buffer.
func (p *Process) SessionDetachBuffer(session Session, bufferAddr unsafe.Pointer, size CountOut) Code {
	const function = "MPI_Session_detach_buffer"
	s := p.session(session)
	if s == nil {
		return p.noSession(function, session)
	}
	return p.detach(&s.communicator, &s.sendBuffer, function, bufferAddr, size)
}

// SessionFlushBuffer is MPI_Session_flush_buffer.
func (p *Process) SessionFlushBuffer(session Session) Code {
	s := p.session(session)
	if s == nil {
		return p.noSession("MPI_Session_flush_buffer", session)
	}
	s.sendBuffer.flush()
	return Success
}

// SessionIflushBuffer is MPI_Session_iflush_buffer.
func (p *Process) SessionIflushBuffer(session Session, request *Request) Code {
	const function = "MPI_Session_iflush_buffer"
	s := p.session(session)
	if s == nil {
		return p.noSession(function, session)
	}
	return p.iflush(p.self.Load(), &s.sendBuffer, function, request)
}
