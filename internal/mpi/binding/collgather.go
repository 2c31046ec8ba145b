package binding

import "unsafe"

// Gather is MPI_Gather, MPI_Igather and MPI_Gather_init.
func (p *Process) Gather(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.gatherAcross(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)
		}
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
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Gather(send, recv, int(root)))
}

// Gatherv is MPI_Gatherv, MPI_Igatherv and MPI_Gatherv_init.
func (p *Process) Gatherv(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.gathervAcross(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root)
		}
		return code
	}
	atRoot := k.root(root)
	var send []byte
	var recv blocks
	if atRoot {
		recv = k.parts(0, k.size(), inwards, k.displaced(recvbuf, recvcounts, displs, recvtype))
	}
	if atRoot && isInPlace(sendbuf) {
		send = k.ownPart(recv, k.displaced(recvbuf, recvcounts, displs, recvtype))
	} else {
		send = k.send(sendbuf, sendcount, sendtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Gatherv(send, recv, int(root)))
}
