package binding

import "unsafe"

// Scatter is MPI_Scatter, MPI_Scatter_c.
func (p *Process) Scatter(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	return p.scatter(blocking("MPI_Scatter"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// Iscatter is MPI_Iscatter, MPI_Iscatter_c.
func (p *Process) Iscatter(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, request *Request) Code {
	return p.scatter(started("MPI_Iscatter", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// ScatterInit is MPI_Scatter_init, MPI_Scatter_init_c.
func (p *Process) ScatterInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, info Info, request *Request) Code {
	return p.scatter(kept("MPI_Scatter_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

func (p *Process) scatter(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
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
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Scatter(send, recv, int(root)))
}

// Scatterv is MPI_Scatterv, MPI_Scatterv_c.
func (p *Process) Scatterv(sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	return p.scatterv(blocking("MPI_Scatterv"), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// Iscatterv is MPI_Iscatterv, MPI_Iscatterv_c.
func (p *Process) Iscatterv(sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, request *Request) Code {
	return p.scatterv(started("MPI_Iscatterv", request), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

// ScattervInit is MPI_Scatterv_init, MPI_Scatterv_init_c.
func (p *Process) ScattervInit(sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm, info Info, request *Request) Code {
	return p.scatterv(kept("MPI_Scatterv_init", request), sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
}

func (p *Process) scatterv(m manner, sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	atRoot := k.root(root)
	var send blocks
	var recv []byte
	if atRoot {
		send = k.parts(0, k.size(), outwards, k.placed(sendbuf, sendcounts, displs, sendtype))
	}
	if atRoot && isInPlace(recvbuf) {
		recv = send.Of(k.rank())
	} else {
		recv = k.receive(recvbuf, recvcount, recvtype)
	}
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Scatterv(send, recv, int(root)))
}
