package binding

import "unsafe"

// Barrier is MPI_Barrier.
func (p *Process) Barrier(comm Comm) Code { return p.barrier(blocking("MPI_Barrier"), comm) }

// Ibarrier is MPI_Ibarrier.
func (p *Process) Ibarrier(comm Comm, request *Request) Code {
	return p.barrier(started("MPI_Ibarrier", request), comm)
}

// BarrierInit is MPI_Barrier_init.
func (p *Process) BarrierInit(comm Comm, info Info, request *Request) Code {
	return p.barrier(kept("MPI_Barrier_init", request), comm)
}

func (p *Process) barrier(m manner, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	return k.end(k.c.comm.Barrier())
}

// Bcast is MPI_Bcast, MPI_Bcast_c.
func (p *Process) Bcast(buffer unsafe.Pointer, count int64, datatype Datatype, root int32, comm Comm) Code {
	return p.bcast(blocking("MPI_Bcast"), buffer, count, datatype, root, comm)
}

// Ibcast is MPI_Ibcast, MPI_Ibcast_c.
func (p *Process) Ibcast(buffer unsafe.Pointer, count int64, datatype Datatype, root int32, comm Comm, request *Request) Code {
	return p.bcast(started("MPI_Ibcast", request), buffer, count, datatype, root, comm)
}

// BcastInit is MPI_Bcast_init, MPI_Bcast_init_c.
func (p *Process) BcastInit(buffer unsafe.Pointer, count int64, datatype Datatype, root int32, comm Comm, info Info, request *Request) Code {
	return p.bcast(kept("MPI_Bcast_init", request), buffer, count, datatype, root, comm)
}

func (p *Process) bcast(m manner, buffer unsafe.Pointer, count int64, datatype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	isRoot := k.root(root)
	b := k.message(buffer, count, datatype, isRoot, !isRoot)
	if !k.good() {
		return k.stop()
	}
	if m.kept {
		return k.end(k.c.comm.MessageBcast(b, int(root)))
	}
	return k.end(k.c.comm.Bcast(b, int(root)))
}
