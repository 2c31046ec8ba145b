package binding

import (
	"hash/fnv"
	"slices"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// Communicators of groups, without a parent. The string tag tells apart what several threads make
// of the same group at once. Errors go to the error handler that the call gives, which the new
// communicator keeps.

// founder is what a communicator without a parent comes from: the communicator of all ranks, which
// makes it, with the error handler and the hints that the call gives.
func (p *Process) founder(function string, g *group, h Group, hints Info, e Errhandler, newcomm *Comm) (*communicator, Code) {
	world := p.world.Load()
	if world == nil {
		return nil, p.outOfTime(function)
	}
	handler, code := p.handlerFor(kindComm, nil, function, e)
	if handler == nil {
		return nil, code
	}
	c := &communicator{comm: world.comm, handle: CommNull}
	if g != nil {
		c.session = g.session
	}
	c.name.Store(&foundName)
	c.errhandler.Store(handler)
	p.takes(handler)
	info, valid := p.optional(hints)
	switch {
	case newcomm == nil:
		return nil, p.fail(c, function, ErrArg, "the argument for the new communicator is NULL")
	case !valid:
		return nil, p.fail(c, function, ErrInfo, "%#x is no info object, or has been freed", uintptr(hints))
	case g == nil:
		return nil, p.fail(c, function, ErrGroup, "the group %#x is none, or has been freed", uintptr(h))
	case slices.ContainsFunc(g.ranks, func(r proto.Rank) bool { return int(r) >= world.comm.Size() }):
		return nil, p.fail(c, function, ErrGroup, "the group has processes that aren't in this job: make an intercommunicator, merge it, and make communicators from that")
	case len(g.ranks) > 0 && !slices.Contains(g.ranks, world.comm.Ranks()[world.comm.Rank()]):
		return nil, p.fail(c, function, ErrGroup, "this rank isn't in the group")
	}
	c.info.Store(info.copy())
	*newcomm = CommNull
	return c, Success
}

// foundName names a communicator that isn't there yet in messages.
var foundName = "the communicator of a group"

// stringTag is a string tag as a number. Those of Comm.CreateGroup are smaller than any.
func stringTag(tag *byte) int {
	h := fnv.New32a()
	h.Write([]byte(goString(tag)))
	return 1<<40 | int(h.Sum32())
}

// CommCreateFromGroup is MPI_Comm_create_from_group.
func (p *Process) CommCreateFromGroup(group Group, stringtag *byte, info Info, errhandler Errhandler, newcomm *Comm) Code {
	const function = "MPI_Comm_create_from_group"
	g := p.group(group)
	c, code := p.founder(function, g, group, info, errhandler, newcomm)
	if c == nil || len(g.ranks) == 0 {
		return code
	}
	if stringtag == nil {
		return p.fail(c, function, ErrArg, "the string tag is NULL")
	}
	inner, err := c.comm.CreateGroup(g.ranks, stringTag(stringtag))
	return p.found(function, c, inner, err, newcomm)
}

// found finishes a communicator without a parent.
func (p *Process) found(function string, c *communicator, inner *comm.Comm, err error, newcomm *Comm) Code {
	if err != nil {
		return p.failWith(c, function, err)
	}
	made := p.newCommunicator(c, inner)
	made.info.Store(c.info.Load().copy())
	return p.publishComm(function, c, made, newcomm)
}

// IntercommCreateFromGroups is MPI_Intercomm_create_from_groups. The remote group, its leader and
// the string tag count at the leader only.
func (p *Process) IntercommCreateFromGroups(localGroup Group, localLeader int32, remoteGroup Group, remoteLeader int32, stringtag *byte, info Info, errhandler Errhandler, newintercomm *Comm) Code {
	const function = "MPI_Intercomm_create_from_groups"
	local := p.group(localGroup)
	c, code := p.founder(function, local, localGroup, info, errhandler, newintercomm)
	switch {
	case c == nil:
		return code
	case localLeader < 0 || int(localLeader) >= len(local.ranks):
		return p.fail(c, function, ErrRank, "the local leader is %d, and the group has %d ranks", localLeader, len(local.ranks))
	}
	m := comm.Meeting{Peer: c.comm}
	var wrong func() Code
	if _, self := c.comm.Engine().Self(); local.ranks[localLeader] == self {
		switch remote := p.group(remoteGroup); {
		case remote == nil:
			wrong = func() Code { return p.noGroup(function, remoteGroup) }
		case remoteLeader < 0 || int(remoteLeader) >= len(remote.ranks):
			wrong = func() Code {
				return p.fail(c, function, ErrRank, "the remote leader is %d, and the remote group has %d ranks", remoteLeader, len(remote.ranks))
			}
		case int(remote.ranks[remoteLeader]) >= p.world.Load().comm.Size():
			wrong = func() Code {
				return p.fail(c, function, ErrGroup, "the remote leader is no process of this job")
			}
		case stringtag == nil:
			wrong = func() Code { return p.fail(c, function, ErrArg, "the string tag is NULL") }
		default:
			m.Leader, m.Tag = int(remote.ranks[remoteLeader]), stringTag(stringtag)&0x7fffffff
		}
		if wrong != nil {
			m.Wrong = errWrongPeer
		}
	}
	own, err := c.comm.CreateGroup(local.ranks, groupsTag)
	if err != nil {
		return p.failWith(c, function, err)
	}
	defer own.Free()
	inner, err := own.Connect(int(localLeader), m)
	switch {
	case wrong != nil:
		return wrong()
	case err != nil:
		return p.failWith(c, function, err)
	}
	made := p.newInter(c, inner)
	made.info.Store(c.info.Load().copy())
	return p.publishComm(function, c, made, newintercomm)
}

// groupsTag is the tag of the communicators by which groups connect: all members make them in one
// order.
const groupsTag = 1 << 41
