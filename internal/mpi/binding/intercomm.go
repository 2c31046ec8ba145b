package binding

import (
	"errors"

	"banyan/internal/mpi/comm"
)

// IntercommCreate is MPI_Intercomm_create. The peer communicator, the remote leader and the tag
// count at the leader only. If they are wrong there, its group hears that it can't meet anybody,
// before the leader's error handler is called.
func (p *Process) IntercommCreate(localComm Comm, localLeader int32, peerComm Comm, remoteLeader, tag int32, newintercomm *Comm) Code {
	const function = "MPI_Intercomm_create"
	c := p.communicator(localComm)
	switch {
	case c == nil:
		return p.noComm(function, localComm)
	case c.inter != nil:
		return p.isInter(c, function)
	case newintercomm == nil:
		return p.fail(c, function, ErrArg, "the argument for the new communicator is NULL")
	case localLeader < 0 || int(localLeader) >= c.comm.Size():
		return p.fail(c, function, ErrRank, "the local leader is %d, and the communicator has %d ranks", localLeader, c.comm.Size())
	}
	m := comm.Meeting{Leader: int(remoteLeader), Tag: int(tag)}
	var wrong func() Code
	if c.comm.Rank() == int(localLeader) {
		switch peer := p.communicator(peerComm); {
		case peer == nil:
			wrong = func() Code { return p.noComm(function, peerComm) }
		case remoteLeader < 0 || int(remoteLeader) >= peer.comm.Size():
			wrong = func() Code {
				return p.fail(c, function, ErrRank, "the remote leader is %d, and the peer communicator has %d ranks", remoteLeader, peer.comm.Size())
			}
		case peer.link != c.link:
			wrong = func() Code {
				return p.fail(c, function, ErrComm, "%s and %s aren't of one connection: the groups have no way to each other", c.title(), peer.title())
			}
		case tag < 0:
			wrong = func() Code { return p.fail(c, function, ErrTag, "the tag is %d, and must not be negative", tag) }
		default:
			m.Peer = peer.comm
		}
		if wrong != nil {
			m.Wrong = errWrongPeer
		}
	}
	inner, err := c.comm.Connect(int(localLeader), m)
	if wrong != nil {
		*newintercomm = CommNull
		return wrong()
	}
	return p.finishInter(function, c, inner, err, newintercomm)
}

// errWrongPeer stands for wrong arguments of a leader, which it reports itself.
var errWrongPeer = errors.New("wrong arguments")

// IntercommMerge is MPI_Intercomm_merge.
func (p *Process) IntercommMerge(intercomm Comm, high int32, newintracomm *Comm) Code {
	const function = "MPI_Intercomm_merge"
	c, code := p.betweenGroups(function, intercomm)
	if c == nil {
		return code
	}
	if newintracomm == nil {
		return p.fail(c, function, ErrArg, "the argument for the new communicator is NULL")
	}
	inner, err := c.inter.Merge(high != 0)
	return p.finish(function, c, inner, err, newintracomm)
}

// CommTestInter is MPI_Comm_test_inter.
func (p *Process) CommTestInter(comm Comm, flag *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_test_inter", comm)
	}
	*flag = truth(c.inter != nil)
	return Success
}

// CommRemoteSize is MPI_Comm_remote_size.
func (p *Process) CommRemoteSize(comm Comm, size *int32) Code {
	c, code := p.betweenGroups("MPI_Comm_remote_size", comm)
	if c != nil {
		*size = int32(c.inter.Size())
	}
	return code
}

// CommRemoteGroup is MPI_Comm_remote_group.
func (p *Process) CommRemoteGroup(comm Comm, group *Group) Code {
	c, code := p.betweenGroups("MPI_Comm_remote_group", comm)
	if c != nil {
		*group = p.newGroup(p.outside(c, c.inter.Ranks()), c.session)
	}
	return code
}

// betweenGroups gives an intercommunicator. For anything else it gives nil, and the code.
func (p *Process) betweenGroups(function string, comm Comm) (*communicator, Code) {
	c := p.communicator(comm)
	switch {
	case c == nil:
		return nil, p.noComm(function, comm)
	case c.inter == nil:
		return nil, p.fail(c, function, ErrComm, "%s is no intercommunicator", c.title())
	}
	return c, Success
}

// isInter is the error of a function that serves intracommunicators only.
func (p *Process) isInter(c *communicator, function string) Code {
	return p.fail(c, function, ErrComm, "%s is an intercommunicator, and this function is for intracommunicators", c.title())
}

// compareInter compares two intercommunicators.
func (p *Process) compareInter(a, b *communicator) int32 {
	if a.link == b.link && a.inter.Same(b.inter) {
		return Ident
	}
	local := compareGroups(&group{ranks: p.outside(a, a.inter.LocalRanks())}, &group{ranks: p.outside(b, b.inter.LocalRanks())})
	remote := compareGroups(&group{ranks: p.outside(a, a.inter.Ranks())}, &group{ranks: p.outside(b, b.inter.Ranks())})
	switch {
	case local == Unequal || remote == Unequal:
		return Unequal
	case local == Ident && remote == Ident:
		return Congruent
	}
	return Similar
}
