package binding

import "unsafe"

// Alltoall is MPI_Alltoall, MPI_Alltoall_c.
func (p *Process) Alltoall(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	return p.alltoall(blocking("MPI_Alltoall"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// Ialltoall is MPI_Ialltoall, MPI_Ialltoall_c.
func (p *Process) Ialltoall(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, request *Request) Code {
	return p.alltoall(started("MPI_Ialltoall", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// AlltoallInit is MPI_Alltoall_init, MPI_Alltoall_init_c.
func (p *Process) AlltoallInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.alltoall(kept("MPI_Alltoall_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

func (p *Process) alltoall(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	recv := k.receive(recvbuf, k.times(recvcount), recvtype)
	var send []byte
	if isInPlace(sendbuf) {
		send = k.copyOf(recvbuf, k.times(recvcount), recvtype)
	} else {
		send = k.send(sendbuf, k.times(sendcount), sendtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoall(send, recv, 1))
}

// Alltoallv is MPI_Alltoallv, MPI_Alltoallv_c.
func (p *Process) Alltoallv(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	return p.alltoallv(blocking("MPI_Alltoallv"), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

// Ialltoallv is MPI_Ialltoallv, MPI_Ialltoallv_c.
func (p *Process) Ialltoallv(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm, request *Request) Code {
	return p.alltoallv(started("MPI_Ialltoallv", request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

// AlltoallvInit is MPI_Alltoallv_init, MPI_Alltoallv_init_c.
func (p *Process) AlltoallvInit(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.alltoallv(kept("MPI_Alltoallv_init", request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

func (p *Process) alltoallv(m manner, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	n := k.size()
	in := k.placed(recvbuf, recvcounts, rdispls, recvtype)
	recv := k.parts(0, n, inwards, in)
	var send blocks
	if isInPlace(sendbuf) {
		send = k.parts(1, n, outwards|copied, in)
	} else {
		send = k.parts(1, n, outwards, k.placed(sendbuf, sendcounts, sdispls, sendtype))
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoallv(send, recv))
}

// Alltoallw is MPI_Alltoallw, MPI_Alltoallw_c.
func (p *Process) Alltoallw(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtypes *Datatype, comm Comm) Code {
	return p.alltoallw(blocking("MPI_Alltoallw"), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

// Ialltoallw is MPI_Ialltoallw, MPI_Ialltoallw_c.
func (p *Process) Ialltoallw(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtypes *Datatype, comm Comm, request *Request) Code {
	return p.alltoallw(started("MPI_Ialltoallw", request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

// AlltoallwInit is MPI_Alltoallw_init, MPI_Alltoallw_init_c.
func (p *Process) AlltoallwInit(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtypes *Datatype, comm Comm, info Info, request *Request) Code {
	return p.alltoallw(kept("MPI_Alltoallw_init", request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

func (p *Process) alltoallw(m manner, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtypes *Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	n := k.size()
	in := k.typed(recvbuf, recvcounts, rdispls, recvtypes)
	recv := k.parts(0, n, inwards, in)
	var send blocks
	if isInPlace(sendbuf) {
		send = k.parts(1, n, outwards|copied, in)
	} else {
		send = k.parts(1, n, outwards, k.typed(sendbuf, sendcounts, sdispls, sendtypes))
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoallv(send, recv))
}
