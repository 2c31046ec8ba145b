package binding

import (
	"strconv"
	"strings"

	"banyan/internal/proto"
)

// psets are the names of the process sets: all ranks, and this one.
var psets = []string{"mpi://WORLD", "mpi://SELF"}

// SessionGetNumPsets is MPI_Session_get_num_psets.
func (p *Process) SessionGetNumPsets(session Session, info Info, npsetNames *int32) Code {
	const function = "MPI_Session_get_num_psets"
	s, code := p.sessionWith(function, session, info)
	switch {
	case s == nil:
		return code
	case npsetNames == nil:
		return p.fail(&s.communicator, function, ErrArg, "the argument for the number is NULL")
	}
	*npsetNames = int32(len(psets))
	return Success
}

// sessionWith is the session of a function that takes hints, too. There are none that it knows.
func (p *Process) sessionWith(function string, session Session, info Info) (*session, Code) {
	s := p.session(session)
	if s == nil {
		return nil, p.noSession(function, session)
	}
	if _, valid := p.optional(info); !valid {
		return nil, p.fail(&s.communicator, function, ErrInfo, "%#x is no info object, or has been freed", uintptr(info))
	}
	return s, Success
}

// SessionGetNthPset is MPI_Session_get_nth_pset. The length counts the null at the end. With a
// length of 0 it says how long the name is.
func (p *Process) SessionGetNthPset(session Session, info Info, n int32, psetLen *int32, psetName *byte) Code {
	const function = "MPI_Session_get_nth_pset"
	s, code := p.sessionWith(function, session, info)
	switch {
	case s == nil:
		return code
	case n < 0 || int(n) >= len(psets):
		return p.fail(&s.communicator, function, ErrArg, "there is no process set %d, only %d from 0 on", n, len(psets))
	case psetLen == nil:
		return p.fail(&s.communicator, function, ErrArg, "the argument for the length is NULL")
	case *psetLen < 0:
		return p.fail(&s.communicator, function, ErrArg, "the length is %d", *psetLen)
	}
	if *psetLen > 0 && psetName != nil {
		setString(psetName, int(*psetLen), psets[n])
	}
	*psetLen = int32(len(psets[n]) + 1)
	return Success
}

// pset is a session, and the ranks of a process set. The session is nil if there is none of either,
// or if there is no place for the result; then the function ends with the code.
func (p *Process) pset(function string, session Session, name *byte, result bool) (s *session, ranks []proto.Rank, code Code) {
	if s = p.session(session); s == nil {
		return nil, nil, p.noSession(function, session)
	}
	switch {
	case name == nil:
		return nil, nil, p.fail(&s.communicator, function, ErrArg, "the name of the process set is NULL")
	case !result:
		return nil, nil, p.fail(&s.communicator, function, ErrArg, "the argument for the result is NULL")
	}
	switch set := goString(name); { // in a URI, the case of these parts doesn't matter
	case strings.EqualFold(set, psets[0]):
		return s, p.world.Load().comm.Ranks(), Success
	case strings.EqualFold(set, psets[1]):
		return s, p.self.Load().comm.Ranks(), Success
	}
	return nil, nil, p.fail(&s.communicator, function, ErrArg, "there is no process set %q: there are %s and %s", goString(name), psets[0], psets[1])
}

// SessionGetPsetInfo is MPI_Session_get_pset_info.
func (p *Process) SessionGetPsetInfo(session Session, psetName *byte, info_ *Info) Code {
	s, ranks, code := p.pset("MPI_Session_get_pset_info", session, psetName, info_ != nil)
	if s == nil {
		return code
	}
	i := &info{}
	i.set("mpi_size", strconv.Itoa(len(ranks)))
	*info_ = Info(p.infos.add(i))
	return Success
}

// GroupFromSessionPset is MPI_Group_from_session_pset.
func (p *Process) GroupFromSessionPset(session Session, psetName *byte, newgroup *Group) Code {
	s, ranks, code := p.pset("MPI_Group_from_session_pset", session, psetName, newgroup != nil)
	if s == nil {
		return code
	}
	*newgroup = p.newGroup(ranks, s)
	return Success
}
