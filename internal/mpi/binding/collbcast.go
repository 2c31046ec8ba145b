package binding

import "unsafe"

// Barrier is MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init.
func (p *Process) Barrier(v Variant, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.barrierAcross()
		}
		return code
	}
	return k.end(k.c.comm.Barrier())
}

// Bcast is MPI_Bcast, MPI_Ibcast and MPI_Bcast_init.
func (p *Process) Bcast(v Variant, buffer unsafe.Pointer, count int64, datatype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.bcastAcross(buffer, count, datatype, root)
		}
		return code
	}
	isRoot := k.root(root)
	b := k.message(buffer, count, datatype, isRoot, !isRoot)
	if !k.apart() {
		return k.stop()
	}
	if v.persistent {
		return k.end(k.c.comm.MessageBcast(b, int(root)))
	}
	return k.end(k.c.comm.Bcast(b, int(root)))
}
