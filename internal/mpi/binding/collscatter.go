package binding

import "unsafe"

// Scatter is MPI_Scatter, MPI_Iscatter and MPI_Scatter_init.
func (p *Process) Scatter(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.scatterAcross(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)
		}
		return code
	}
	atRoot := k.root(root)
	var send, recv []byte
	if atRoot {
		send = k.send(sendbuf, k.times(sendcount), sendtype)
	}
	if atRoot && isInPlace(recvbuf) {
		recv = k.block(send)
	} else {
		recv = k.receive(recvbuf, recvcount, recvtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Scatter(send, recv, int(root)))
}

// Scatterv is MPI_Scatterv, MPI_Iscatterv and MPI_Scatterv_init.
func (p *Process) Scatterv(v Variant, sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.scattervAcross(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root)
		}
		return code
	}
	atRoot := k.root(root)
	var send blocks
	var recv []byte
	if atRoot {
		send = k.parts(0, k.size(), outwards, k.displaced(sendbuf, sendcounts, displs, sendtype))
	}
	if atRoot && isInPlace(recvbuf) {
		recv = send.Of(k.rank())
	} else {
		recv = k.receive(recvbuf, recvcount, recvtype)
	}
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Scatterv(send, recv, int(root)))
}
