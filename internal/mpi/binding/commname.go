package binding

// CommSetName is MPI_Comm_set_name. A name that is too long is cut.
func (p *Process) CommSetName(comm Comm, commName *byte) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_set_name", comm)
	}
	name := goString(commName)
	name = name[:min(len(name), MaxObjectName-1)]
	c.name.Store(&name)
	return Success
}

// CommGetName is MPI_Comm_get_name.
func (p *Process) CommGetName(comm Comm, commName *byte, resultlen *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		if comm == CommNull && p.live() {
			*resultlen = setString(commName, MaxObjectName, "MPI_COMM_NULL")
			return Success
		}
		return p.noComm("MPI_Comm_get_name", comm)
	}
	name := ""
	if n := c.name.Load(); n != nil {
		name = *n
	}
	*resultlen = setString(commName, MaxObjectName, name)
	return Success
}

// CommSetInfo is MPI_Comm_set_info. Hints are stored and have no effect.
func (p *Process) CommSetInfo(comm Comm, info Info) Code {
	const function = "MPI_Comm_set_info"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	i := p.info(info)
	if i == nil {
		return p.noInfo(function, info)
	}
	c.info.Store(i.copy())
	c.heed()
	return Success
}

// CommGetInfo is MPI_Comm_get_info.
func (p *Process) CommGetInfo(comm Comm, infoUsed *Info) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_get_info", comm)
	}
	*infoUsed = Info(p.infos.add(c.info.Load().copy()))
	return Success
}
