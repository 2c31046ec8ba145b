package binding

import "unsafe"

// Alltoall is MPI_Alltoall, MPI_Ialltoall and MPI_Alltoall_init.
func (p *Process) Alltoall(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.alltoallAcross(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
		}
		return code
	}
	recv := k.receive(recvbuf, k.times(recvcount), recvtype)
	var send []byte
	if isInPlace(sendbuf) {
		send = k.copyOf(recvbuf, k.times(recvcount), recvtype)
	} else {
		send = k.send(sendbuf, k.times(sendcount), sendtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoall(send, recv, 1))
}

// Alltoallv is MPI_Alltoallv, MPI_Ialltoallv and MPI_Alltoallv_init.
func (p *Process) Alltoallv(v Variant, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.alltoallvAcross(sendbuf, recvbuf, k.displaced(sendbuf, sendcounts, sdispls, sendtype), k.displaced(recvbuf, recvcounts, rdispls, recvtype))
		}
		return code
	}
	n := k.size()
	in := k.displaced(recvbuf, recvcounts, rdispls, recvtype)
	recv := k.parts(0, n, inwards, in)
	var send blocks
	if isInPlace(sendbuf) {
		send = k.parts(1, n, outwards|copied, in)
	} else {
		send = k.parts(1, n, outwards, k.displaced(sendbuf, sendcounts, sdispls, sendtype))
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoallv(send, recv))
}

// Alltoallw is MPI_Alltoallw, MPI_Ialltoallw and MPI_Alltoallw_init.
func (p *Process) Alltoallw(v Variant, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtypes *Datatype, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.alltoallvAcross(sendbuf, recvbuf, k.typed(sendbuf, sendcounts, sdispls, sendtypes), k.typed(recvbuf, recvcounts, rdispls, recvtypes))
		}
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
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Alltoallv(send, recv))
}
