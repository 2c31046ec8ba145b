package binding

import "unsafe"

// Allgather is MPI_Allgather, MPI_Iallgather and MPI_Allgather_init.
func (p *Process) Allgather(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.allgatherAcross(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
		}
		return code
	}
	recv := k.receive(recvbuf, k.times(recvcount), recvtype)
	var send []byte
	if isInPlace(sendbuf) {
		send = k.own(recv, recvbuf, recvcount, recvtype)
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Allgather(send, recv))
}

// Allgatherv is MPI_Allgatherv, MPI_Iallgatherv and MPI_Allgatherv_init.
func (p *Process) Allgatherv(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.allgathervAcross(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype)
		}
		return code
	}
	recv := k.parts(0, k.size(), inwards, k.displaced(recvbuf, recvcounts, displs, recvtype))
	var send []byte
	if isInPlace(sendbuf) {
		send = k.ownPart(recv, k.displaced(recvbuf, recvcounts, displs, recvtype))
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Allgatherv(send, recv))
}
