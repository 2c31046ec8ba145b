package binding

import "unsafe"

// Allgather is MPI_Allgather, MPI_Allgather_c.
func (p *Process) Allgather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	return p.allgather(blocking("MPI_Allgather"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// Iallgather is MPI_Iallgather, MPI_Iallgather_c.
func (p *Process) Iallgather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, request *Request) Code {
	return p.allgather(started("MPI_Iallgather", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// AllgatherInit is MPI_Allgather_init, MPI_Allgather_init_c.
func (p *Process) AllgatherInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.allgather(kept("MPI_Allgather_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

func (p *Process) allgather(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	recv := k.receive(recvbuf, k.times(recvcount), recvtype)
	var send []byte
	if isInPlace(sendbuf) {
		send = k.own(recv, recvbuf, recvcount, recvtype)
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Allgather(send, recv))
}

// Allgatherv is MPI_Allgatherv, MPI_Allgatherv_c.
func (p *Process) Allgatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	return p.allgatherv(blocking("MPI_Allgatherv"), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

// Iallgatherv is MPI_Iallgatherv, MPI_Iallgatherv_c.
func (p *Process) Iallgatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm, request *Request) Code {
	return p.allgatherv(started("MPI_Iallgatherv", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

// AllgathervInit is MPI_Allgatherv_init, MPI_Allgatherv_init_c.
func (p *Process) AllgathervInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.allgatherv(kept("MPI_Allgatherv_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

func (p *Process) allgatherv(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	recv := k.parts(0, k.size(), inwards, k.placed(recvbuf, recvcounts, displs, recvtype))
	var send []byte
	if isInPlace(sendbuf) {
		send = k.ownPart(recv, k.placed(recvbuf, recvcounts, displs, recvtype))
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Allgatherv(send, recv))
}
