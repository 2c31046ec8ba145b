package binding

import "unsafe"

// Gather is MPI_Gather, MPI_Gather_c.
func (p *Process) Gather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	return p.gather(blocking("MPI_Gather"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// Igather is MPI_Igather, MPI_Igather_c.
func (p *Process) Igather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, request *Request) Code {
	return p.gather(started("MPI_Igather", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// GatherInit is MPI_Gather_init, MPI_Gather_init_c.
func (p *Process) GatherInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, info Info, request *Request) Code {
	return p.gather(kept("MPI_Gather_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

func (p *Process) gather(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	atRoot := k.root(root)
	var send, recv []byte
	if atRoot {
		recv = k.receive(recvbuf, k.times(recvcount), recvtype)
	}
	if atRoot && isInPlace(sendbuf) {
		send = k.own(recv, recvbuf, recvcount, recvtype)
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Gather(send, recv, int(root)))
}

// Gatherv is MPI_Gatherv, MPI_Gatherv_c.
func (p *Process) Gatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm) Code {
	return p.gatherv(blocking("MPI_Gatherv"), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
}

// Igatherv is MPI_Igatherv, MPI_Igatherv_c.
func (p *Process) Igatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm, request *Request) Code {
	return p.gatherv(started("MPI_Igatherv", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
}

// GathervInit is MPI_Gatherv_init, MPI_Gatherv_init_c.
func (p *Process) GathervInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm, info Info, request *Request) Code {
	return p.gatherv(kept("MPI_Gatherv_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
}

func (p *Process) gatherv(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	atRoot := k.root(root)
	var send []byte
	var recv blocks
	if atRoot {
		recv = k.parts(0, k.size(), inwards, k.placed(recvbuf, recvcounts, displs, recvtype))
	}
	if atRoot && isInPlace(sendbuf) {
		send = k.ownPart(recv, k.placed(recvbuf, recvcounts, displs, recvtype))
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Gatherv(send, recv, int(root)))
}
