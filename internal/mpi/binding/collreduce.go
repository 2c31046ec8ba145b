package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// Reduce is MPI_Reduce, MPI_Reduce_c.
func (p *Process) Reduce(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm) Code {
	return p.reduce(blocking("MPI_Reduce"), sendbuf, recvbuf, count, datatype, op, root, comm)
}

// Ireduce is MPI_Ireduce, MPI_Ireduce_c.
func (p *Process) Ireduce(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm, request *Request) Code {
	return p.reduce(started("MPI_Ireduce", request), sendbuf, recvbuf, count, datatype, op, root, comm)
}

// ReduceInit is MPI_Reduce_init, MPI_Reduce_init_c.
func (p *Process) ReduceInit(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm, info Info, request *Request) Code {
	return p.reduce(kept("MPI_Reduce_init", request), sendbuf, recvbuf, count, datatype, op, root, comm)
}

func (p *Process) reduce(m manner, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	atRoot := k.root(root)
	var send, recv []byte
	switch {
	case atRoot && isInPlace(sendbuf):
		recv = k.update(recvbuf, count, datatype)
		send = recv
	case atRoot:
		send, recv = k.send(sendbuf, count, datatype), k.receive(recvbuf, count, datatype)
	default:
		send = k.send(sendbuf, count, datatype)
	}
	with := k.operator(op, datatype)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Reduce(send, recv, with, int(root)))
}

// Allreduce is MPI_Allreduce, MPI_Allreduce_c.
func (p *Process) Allreduce(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	return p.allreduce(blocking("MPI_Allreduce"), sendbuf, recvbuf, count, datatype, op, comm)
}

// Iallreduce is MPI_Iallreduce, MPI_Iallreduce_c.
func (p *Process) Iallreduce(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, request *Request) Code {
	return p.allreduce(started("MPI_Iallreduce", request), sendbuf, recvbuf, count, datatype, op, comm)
}

// AllreduceInit is MPI_Allreduce_init, MPI_Allreduce_init_c.
func (p *Process) AllreduceInit(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, info Info, request *Request) Code {
	return p.allreduce(kept("MPI_Allreduce_init", request), sendbuf, recvbuf, count, datatype, op, comm)
}

func (p *Process) allreduce(m manner, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	send, recv := k.operands(sendbuf, recvbuf, count, datatype)
	with := k.operator(op, datatype)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Allreduce(send, recv, with))
}

// Scan is MPI_Scan, MPI_Scan_c.
func (p *Process) Scan(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	return p.scan(blocking("MPI_Scan"), sendbuf, recvbuf, count, datatype, op, comm)
}

// Iscan is MPI_Iscan, MPI_Iscan_c.
func (p *Process) Iscan(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, request *Request) Code {
	return p.scan(started("MPI_Iscan", request), sendbuf, recvbuf, count, datatype, op, comm)
}

// ScanInit is MPI_Scan_init, MPI_Scan_init_c.
func (p *Process) ScanInit(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, info Info, request *Request) Code {
	return p.scan(kept("MPI_Scan_init", request), sendbuf, recvbuf, count, datatype, op, comm)
}

func (p *Process) scan(m manner, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	send, recv := k.operands(sendbuf, recvbuf, count, datatype)
	with := k.operator(op, datatype)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Scan(send, recv, with))
}

// Exscan is MPI_Exscan, MPI_Exscan_c.
func (p *Process) Exscan(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	return p.exscan(blocking("MPI_Exscan"), sendbuf, recvbuf, count, datatype, op, comm)
}

// Iexscan is MPI_Iexscan, MPI_Iexscan_c.
func (p *Process) Iexscan(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, request *Request) Code {
	return p.exscan(started("MPI_Iexscan", request), sendbuf, recvbuf, count, datatype, op, comm)
}

// ExscanInit is MPI_Exscan_init, MPI_Exscan_init_c.
func (p *Process) ExscanInit(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm, info Info, request *Request) Code {
	return p.exscan(kept("MPI_Exscan_init", request), sendbuf, recvbuf, count, datatype, op, comm)
}

func (p *Process) exscan(m manner, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	var send, recv []byte
	if k.rank() == 0 && !isInPlace(sendbuf) { // its result is left alone
		send, recv = k.send(sendbuf, count, datatype), k.message(recvbuf, count, datatype, false, false)
	} else {
		send, recv = k.operands(sendbuf, recvbuf, count, datatype)
	}
	with := k.operator(op, datatype)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.Exscan(send, recv, with))
}

// operator is an operation on elements of a type.
func (k *collective) operator(op Op, datatype Datatype) comm.Op {
	if !k.good() {
		return comm.Op{}
	}
	with, code := k.p.reduction(k.c, k.function, op, k.p.datatype(datatype))
	k.code = code
	return with
}

// operands are what a reduction combines and where its result goes.
func (k *collective) operands(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype) (send, recv []byte) {
	if isInPlace(sendbuf) {
		recv = k.update(recvbuf, count, datatype)
		return recv, recv
	}
	return k.send(sendbuf, count, datatype), k.receive(recvbuf, count, datatype)
}
