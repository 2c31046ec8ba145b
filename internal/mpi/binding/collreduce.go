package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// Reduce is MPI_Reduce, MPI_Ireduce and MPI_Reduce_init.
func (p *Process) Reduce(v Variant, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.reduceAcross(sendbuf, recvbuf, count, datatype, op, root)
		}
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
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Reduce(send, recv, with, int(root)))
}

// Allreduce is MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init.
func (p *Process) Allreduce(v Variant, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k != nil {
			return k.allreduceAcross(sendbuf, recvbuf, count, datatype, op)
		}
		return code
	}
	send, recv := k.operands(sendbuf, recvbuf, count, datatype)
	with := k.operator(op, datatype)
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Allreduce(send, recv, with))
}

// Scan is MPI_Scan, MPI_Iscan and MPI_Scan_init.
func (p *Process) Scan(v Variant, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.within(v, comm, ErrComm)
	if k == nil {
		return code
	}
	send, recv := k.operands(sendbuf, recvbuf, count, datatype)
	with := k.operator(op, datatype)
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.Scan(send, recv, with))
}

// Exscan is MPI_Exscan, MPI_Iexscan and MPI_Exscan_init.
func (p *Process) Exscan(v Variant, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.within(v, comm, ErrComm)
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
	if !k.apart() {
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
