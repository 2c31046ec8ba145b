package binding

import (
	"sync"
	"sync/atomic"
)

// Sessions (MPI-5.0, chapter 11.3). The first session, or MPI_Init, makes this process part of the
// job. Further sessions are handles with an error handler, hints and a buffer of their own: they
// share the engine, and the communicator of all ranks below what they make (commfromgroup.go).
// A process may open sessions one after another, so it can't know which is the last. It leaves the
// job when it exits (Exits), unless the program used MPI_Init and MPI_Finalize alone.

// session is the object of a Session.
type session struct {
	communicator // for errors, hints and buffered sends: no messages go over it
	level        int32
}

// sessions are the sessions of a process.
type sessions struct {
	table[session]
	used  atomic.Bool  // a program has asked for one
	open  atomic.Int32 // how many there are
	exits sync.Mutex   // held while the host is told
}

// threadLevels are the values of the hint thread_level.
var threadLevels = map[string]int32{
	"MPI_THREAD_SINGLE": ThreadSingle, "MPI_THREAD_FUNNELED": ThreadFunneled,
	"MPI_THREAD_SERIALIZED": ThreadSerialized, "MPI_THREAD_MULTIPLE": ThreadMultiple,
}

// SessionInit is MPI_Session_init. The hint thread_level asks for a level of thread support;
// without it that is MPI_THREAD_SINGLE.
func (p *Process) SessionInit(info Info, errhandler Errhandler, session_ *Session) Code {
	const function = "MPI_Session_init"
	level := int32(ThreadSingle)
	hints, valid := p.optional(info)
	asked, given := hints.get("thread_level")
	if given {
		l, known := threadLevels[asked]
		if level = l; !known {
			valid = false
		}
	}
	if code := p.join(function, level); code != Success {
		return code
	}
	p.sessions.used.Store(true)
	defer p.tellExit() // also if this session isn't opened: MPI_Finalize leaves the job no longer
	p.joining.Lock()   // threads may open sessions at a time
	s := &session{level: min(max(level, ThreadSingle), p.level)}
	p.joining.Unlock()
	s.what, s.comm, s.handle = "session", p.self.Load().comm, Comm(SessionNull)
	e, code := p.handlerFor(kindSession, nil, function, errhandler)
	if e == nil {
		return code
	}
	s.errhandler.Store(e)
	p.takes(e)
	switch {
	case session_ == nil:
		return p.fail(&s.communicator, function, ErrArg, "the argument for the new session is NULL")
	case !valid && given:
		return p.fail(&s.communicator, function, ErrInfoValue, "thread_level is %q, and no level of thread support", asked)
	case !valid:
		return p.fail(&s.communicator, function, ErrInfo, "%#x is no info object, or has been freed", uintptr(info))
	}
	s.info.Store(hints.copy())
	s.handle = Comm(p.sessions.add(s))
	if s.handle == 0 {
		return p.fail(nil, function, ErrNoMem, "there are too many sessions")
	}
	p.sessions.open.Add(1)
	*session_ = Session(s.handle)
	return Success
}

// session is the object of a handle, nil if it has none.
func (p *Process) session(h Session) *session { return p.sessions.get(uintptr(h)) }

// noSession is the error of a handle that names no session.
func (p *Process) noSession(function string, h Session) Code {
	switch {
	case !p.live():
		return p.outOfTime(function)
	case h == SessionNull:
		return p.fail(nil, function, ErrSession, "the session is MPI_SESSION_NULL")
	}
	return p.noHandle(nil, function, ErrSession, "session", uintptr(h))
}

// SessionFinalize is MPI_Session_finalize. It waits for buffered sends.
func (p *Process) SessionFinalize(session *Session) Code {
	const function = "MPI_Session_finalize"
	if session == nil {
		return p.fail(nil, function, ErrArg, "the argument for the session is NULL")
	}
	s := p.session(*session)
	if s == nil {
		return p.noSession(function, *session)
	}
	s.sendBuffer.flush()
	p.sessions.remove(uintptr(*session))
	p.sessions.open.Add(-1)
	p.tellExit()
	*session = SessionNull
	return Success
}

// tellExit tells the host whether this process leaves the job when it exits, if it has used
// sessions. The host asks for nothing if not: a program may exit in a signal handler, in the middle
// of a call.
func (p *Process) tellExit() {
	if p.host.AtExit == nil || !p.sessions.used.Load() {
		return
	}
	p.sessions.exits.Lock()
	defer p.sessions.exits.Unlock()
	p.host.AtExit(p.leaves())
}

// leaves tells whether this process would leave the job if it exited now: no session is open, nor
// is the world.
func (p *Process) leaves() bool {
	return p.sessions.open.Load() == 0 && (!p.began.Load() || p.ended.Load())
}

// Exits is called when the process exits, if it has opened a session: it leaves the job, unless a
// session is open, or the world. Then it counts as dead, as a process does that exits without
// MPI_Finalize.
func (p *Process) Exits() {
	if !p.leaves() || !p.state.CompareAndSwap(running, finalising) {
		return
	}
	p.leave("the end of the process")
}

// SessionGetInfo is MPI_Session_get_info: the hints that the session was given, with the level of
// thread support that it has.
func (p *Process) SessionGetInfo(session Session, infoUsed *Info) Code {
	const function = "MPI_Session_get_info"
	s := p.session(session)
	switch {
	case s == nil:
		return p.noSession(function, session)
	case infoUsed == nil:
		return p.fail(&s.communicator, function, ErrArg, "the argument for the info object is NULL")
	}
	i := s.info.Load().copy()
	for name, level := range threadLevels {
		if level == s.level {
			i.set("thread_level", name)
		}
	}
	*infoUsed = Info(p.infos.add(i))
	return Success
}

// SessionSetErrhandler is MPI_Session_set_errhandler.
func (p *Process) SessionSetErrhandler(session Session, errhandler Errhandler) Code {
	const function = "MPI_Session_set_errhandler"
	s := p.session(session)
	if s == nil {
		return p.noSession(function, session)
	}
	e, code := p.handlerFor(kindSession, &s.communicator, function, errhandler)
	if e == nil {
		return code
	}
	s.errhandler.Store(e)
	p.takes(e)
	return Success
}

// SessionGetErrhandler is MPI_Session_get_errhandler.
func (p *Process) SessionGetErrhandler(session Session, errhandler *Errhandler) Code {
	s := p.session(session)
	if s == nil {
		return p.noSession("MPI_Session_get_errhandler", session)
	}
	*errhandler = p.refer(s.errhandler.Load())
	return Success
}

// SessionCallErrhandler is MPI_Session_call_errhandler.
func (p *Process) SessionCallErrhandler(session Session, errorcode int32) Code {
	const function = "MPI_Session_call_errhandler"
	s := p.session(session)
	if s == nil {
		return p.noSession(function, session)
	}
	return p.callErrhandler(&s.communicator, function, errorcode)
}
