package binding

import (
	"errors"

	"banyan/internal/mpi/comm"
)

// newCommunicator gives a new communicator its parent's error handler. Constructors set the
// rest.
func (p *Process) newCommunicator(parent *communicator, inner *comm.Comm) *communicator {
	c := &communicator{comm: inner, session: parent.session, link: parent.link.retain()}
	c.errhandler.Store(parent.errhandler.Load())
	return c
}

// newInter does the same for an intercommunicator.
func (p *Process) newInter(parent *communicator, inner *comm.Inter) *communicator {
	c := p.newCommunicator(parent, inner.Comm)
	c.inter = inner
	return c
}

// finish hands a new communicator to the program, or MPI_COMM_NULL if this process isn't in it.
func (p *Process) finish(function string, parent *communicator, inner *comm.Comm, err error, newcomm *Comm) Code {
	*newcomm = CommNull
	if err != nil {
		return p.failWith(parent, function, err)
	}
	if inner == nil {
		return Success
	}
	return p.publishComm(function, parent, p.newCommunicator(parent, inner), newcomm)
}

// finishInter does the same for an intercommunicator.
func (p *Process) finishInter(function string, parent *communicator, inner *comm.Inter, err error, newcomm *Comm) Code {
	*newcomm = CommNull
	if err != nil {
		return p.failWith(parent, function, err)
	}
	if inner == nil {
		return Success
	}
	return p.publishComm(function, parent, p.newInter(parent, inner), newcomm)
}

func (p *Process) publishComm(function string, parent, c *communicator, newcomm *Comm) Code {
	h := p.adopt(c)
	if h == 0 {
		c.free()
		return p.fail(parent, function, ErrNoMem, "there are too many communicators")
	}
	*newcomm = h
	return Success
}

// CommDup is MPI_Comm_dup.
func (p *Process) CommDup(comm Comm, newcomm *Comm) Code {
	return p.duplicate("MPI_Comm_dup", comm, nil, newcomm)
}

// CommDupWithInfo is MPI_Comm_dup_with_info.
func (p *Process) CommDupWithInfo(comm Comm, info Info, newcomm *Comm) Code {
	return p.duplicate("MPI_Comm_dup_with_info", comm, &info, newcomm)
}

// CommIdup is MPI_Comm_idup. Choosing a context takes no messages, so the operation ends at
// once.
func (p *Process) CommIdup(comm Comm, newcomm *Comm, request *Request) Code {
	*request = sentHandle // a request that has ended
	return p.duplicate("MPI_Comm_idup", comm, nil, newcomm)
}

// CommIdupWithInfo is MPI_Comm_idup_with_info.
func (p *Process) CommIdupWithInfo(comm Comm, info Info, newcomm *Comm, request *Request) Code {
	*request = sentHandle // one that has ended
	return p.duplicate("MPI_Comm_idup_with_info", comm, &info, newcomm)
}

// duplicate makes a communicator of the same ranks. It copies the attributes as their copy
// functions decide, and the hints unless others are given.
func (p *Process) duplicate(function string, h Comm, hints *Info, newcomm *Comm) Code {
	parent := p.communicator(h)
	if parent == nil {
		return p.noComm(function, h)
	}
	wanted := parent.info.Load()
	if hints != nil {
		var valid bool
		if wanted, valid = p.optional(*hints); !valid {
			return p.noInfo(function, *hints)
		}
	}
	*newcomm = CommNull
	c, err := p.twin(parent)
	if err != nil {
		return p.failWith(parent, function, err)
	}
	c.info.Store(wanted.copy())
	c.heed()
	c.topology = parent.topology
	if code := p.publishComm(function, parent, c, newcomm); code != Success {
		return code
	}
	if code := p.copyAttributes(&parent.attributes, uintptr(h), &c.attributes); code != Success {
		p.forget(c)
		*newcomm = CommNull
		c.free()
		return p.callbackFailed(parent, function, "copy", code)
	}
	return Success
}

// twin makes a communicator of the same ranks.
func (p *Process) twin(parent *communicator) (*communicator, error) {
	if parent.inter != nil {
		inner, err := parent.inter.Dup()
		if err != nil {
			return nil, err
		}
		return p.newInter(parent, inner), nil
	}
	inner, err := parent.comm.Dup()
	if err != nil {
		return nil, err
	}
	return p.newCommunicator(parent, inner), nil
}

// CommSplit is MPI_Comm_split.
func (p *Process) CommSplit(comm_ Comm, color, key int32, newcomm *Comm) Code {
	const function = "MPI_Comm_split"
	c := p.communicator(comm_)
	if c == nil {
		return p.noComm(function, comm_)
	}
	if color < 0 && color != Undefined {
		return p.fail(c, function, ErrArg, "the color is %d: neither 0 or more nor MPI_UNDEFINED", color)
	}
	return p.split(function, c, color, key, newcomm)
}

func (p *Process) split(function string, c *communicator, color, key int32, newcomm *Comm) Code {
	if color == Undefined {
		color = comm.Undefined
	}
	if c.inter != nil {
		inner, err := c.inter.Split(int(color), int(key))
		return p.finishInter(function, c, inner, err, newcomm)
	}
	inner, err := c.comm.Split(int(color), int(key))
	return p.finish(function, c, inner, err, newcomm)
}

// CommSplitType is MPI_Comm_split_type. Ranks on one host share memory, but not in a job with
// replicas. The library knows
// nothing smaller, so a split by other hardware gives MPI_COMM_NULL.
func (p *Process) CommSplitType(comm Comm, splitType, key int32, info Info, newcomm *Comm) Code {
	const function = "MPI_Comm_split_type"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	hints, valid := p.optional(info)
	if !valid {
		return p.noInfo(function, info)
	}
	color, together := int32(Undefined), p.togetherOf(c)
	switch splitType {
	case CommTypeShared:
		color = together
	case CommTypeHwGuided, CommTypeResourceGuided:
		if what, _ := hints.get("mpi_hw_resource_type"); what == "mpi_shared_memory" {
			color = together
		}
	case CommTypeHwUnguided, Undefined:
	default:
		return p.fail(c, function, ErrArg, "%d is no kind of split", splitType)
	}
	return p.split(function, c, color, key, newcomm)
}

// togetherOf numbers the set of ranks of a communicator that share memory with this one: those on
// its host. In a job with replicas each replica has memory of its own, so no ranks share any.
func (p *Process) togetherOf(c *communicator) int32 {
	_, rank := c.comm.Engine().Self()
	if p.copies() {
		return int32(rank)
	}
	return p.hostOf(c, int(rank))
}

// hostOf is the number of a rank's host, in the job or connection of a communicator. It is the host
// of the first replica, so that all replicas agree.
func (p *Process) hostOf(c *communicator, rank int) int32 {
	hosts := p.job.Hosts()
	if c.link != nil {
		hosts = c.link.conn.Hosts
	}
	if rank < len(hosts) {
		return hosts[rank]
	}
	return 0
}

// CommCreate is MPI_Comm_create.
func (p *Process) CommCreate(comm_ Comm, group Group, newcomm *Comm) Code {
	const function = "MPI_Comm_create"
	c, g := p.communicator(comm_), p.group(group)
	switch {
	case c == nil:
		return p.noComm(function, comm_)
	case g == nil:
		return p.noGroup(function, group)
	}
	if c.inter != nil {
		inner, err := c.inter.Create(p.inside(c, g.ranks))
		if errors.Is(err, comm.ErrRank) {
			*newcomm = CommNull
			return p.fail(c, function, ErrGroup, "the group has ranks that aren't in the local group of %s", c.title())
		}
		return p.finishInter(function, c, inner, err, newcomm)
	}
	inner, err := c.comm.Create(p.inside(c, g.ranks))
	return p.finishGroup(function, c, inner, err, newcomm)
}

// CommCreateGroup is MPI_Comm_create_group.
func (p *Process) CommCreateGroup(comm Comm, group Group, tag int32, newcomm *Comm) Code {
	const function = "MPI_Comm_create_group"
	c, g := p.communicator(comm), p.group(group)
	switch {
	case c == nil:
		return p.noComm(function, comm)
	case g == nil:
		return p.noGroup(function, group)
	case c.inter != nil:
		return p.isInter(c, function)
	case tag < 0:
		return p.fail(c, function, ErrTag, "the tag is %d", tag)
	}
	inner, err := c.comm.CreateGroup(p.inside(c, g.ranks), int(tag))
	return p.finishGroup(function, c, inner, err, newcomm)
}

func (p *Process) finishGroup(function string, c *communicator, inner *comm.Comm, err error, newcomm *Comm) Code {
	if errors.Is(err, comm.ErrRank) {
		*newcomm = CommNull
		return p.fail(c, function, ErrGroup, "the group has ranks that aren't in the communicator")
	}
	return p.finish(function, c, inner, err, newcomm)
}

// CommFree is MPI_Comm_free.
func (p *Process) CommFree(comm *Comm) Code { return p.freeComm("MPI_Comm_free", comm) }

// CommDisconnect is MPI_Comm_disconnect: operations under way end first. Of a connection, it
// waits for nobody: the connection itself ends in the background, when all have come as far.
func (p *Process) CommDisconnect(comm *Comm) Code { return p.freeComm("MPI_Comm_disconnect", comm) }

func (p *Process) freeComm(function string, h *Comm) Code {
	c := p.communicator(*h)
	switch {
	case c == nil:
		return p.noComm(function, *h)
	case c.handle < firstHandle:
		return p.fail(c, function, ErrComm, "%s can't be freed", c.title())
	}
	if code := p.deleteAttributes(&c.attributes, uintptr(*h)); code != Success {
		return p.callbackFailed(c, function, "delete", code)
	}
	p.forget(c)
	*h = CommNull
	c.release()
	return Success
}

// CommCompare is MPI_Comm_compare.
func (p *Process) CommCompare(comm1, comm2 Comm, result *int32) Code {
	const function = "MPI_Comm_compare"
	a, b := p.communicator(comm1), p.communicator(comm2)
	switch {
	case a == nil:
		return p.noComm(function, comm1)
	case b == nil:
		return p.noComm(function, comm2)
	}
	if (a.inter != nil) != (b.inter != nil) {
		*result = Unequal
		return Success
	}
	if a.inter != nil {
		*result = p.compareInter(a, b)
		return Success
	}
	*result = compareGroups(&group{ranks: p.outside(a, a.comm.Ranks())}, &group{ranks: p.outside(b, b.comm.Ranks())})
	if *result == Ident && (a.link != b.link || !a.comm.Same(b.comm)) {
		*result = Congruent
	}
	return Success
}
