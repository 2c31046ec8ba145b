package binding

import "unsafe"

// ReduceScatter is MPI_Reduce_scatter, MPI_Reduce_scatter_c.
func (p *Process) ReduceScatter(sendbuf, recvbuf unsafe.Pointer, recvcounts Counts, datatype Datatype, op Op, comm Comm) Code {
	return p.reduceScatter(blocking("MPI_Reduce_scatter"), sendbuf, recvbuf, recvcounts, datatype, op, comm)
}

// IreduceScatter is MPI_Ireduce_scatter, MPI_Ireduce_scatter_c.
func (p *Process) IreduceScatter(sendbuf, recvbuf unsafe.Pointer, recvcounts Counts, datatype Datatype, op Op, comm Comm, request *Request) Code {
	return p.reduceScatter(started("MPI_Ireduce_scatter", request), sendbuf, recvbuf, recvcounts, datatype, op, comm)
}

// ReduceScatterInit is MPI_Reduce_scatter_init, MPI_Reduce_scatter_init_c.
func (p *Process) ReduceScatterInit(sendbuf, recvbuf unsafe.Pointer, recvcounts Counts, datatype Datatype, op Op, comm Comm, info Info, request *Request) Code {
	return p.reduceScatter(kept("MPI_Reduce_scatter_init", request), sendbuf, recvbuf, recvcounts, datatype, op, comm)
}

func (p *Process) reduceScatter(m manner, sendbuf, recvbuf unsafe.Pointer, recvcounts Counts, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	if recvcounts.IsNil() {
		k.fail(ErrArg, "the array of counts is null")
	}
	counts, whole := make([]int, k.size()), int64(0)
	for i := range counts {
		if !k.good() {
			return k.stop()
		}
		n := recvcounts.At(i)
		if n < 0 || n > maxData {
			k.fail(ErrCount, "count %d is %d", i, n)
		}
		counts[i] = int(n)
		whole += n
	}
	own := int64(counts[k.rank()])
	return k.reduceScatter(sendbuf, recvbuf, whole, own, counts, datatype, op)
}

// ReduceScatterBlock is MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c.
func (p *Process) ReduceScatterBlock(sendbuf, recvbuf unsafe.Pointer, recvcount int64, datatype Datatype, op Op, comm Comm) Code {
	return p.reduceScatterBlock(blocking("MPI_Reduce_scatter_block"), sendbuf, recvbuf, recvcount, datatype, op, comm)
}

// IreduceScatterBlock is MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c.
func (p *Process) IreduceScatterBlock(sendbuf, recvbuf unsafe.Pointer, recvcount int64, datatype Datatype, op Op, comm Comm, request *Request) Code {
	return p.reduceScatterBlock(started("MPI_Ireduce_scatter_block", request), sendbuf, recvbuf, recvcount, datatype, op, comm)
}

// ReduceScatterBlockInit is MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c.
func (p *Process) ReduceScatterBlockInit(sendbuf, recvbuf unsafe.Pointer, recvcount int64, datatype Datatype, op Op, comm Comm, info Info, request *Request) Code {
	return p.reduceScatterBlock(kept("MPI_Reduce_scatter_block_init", request), sendbuf, recvbuf, recvcount, datatype, op, comm)
}

func (p *Process) reduceScatterBlock(m manner, sendbuf, recvbuf unsafe.Pointer, recvcount int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	return k.reduceScatter(sendbuf, recvbuf, k.times(recvcount), recvcount, nil, datatype, op)
}

func (k *collective) reduceScatter(sendbuf, recvbuf unsafe.Pointer, whole, own int64, counts []int, datatype Datatype, op Op) Code {
	if isInPlace(sendbuf) {
		sendbuf = recvbuf // all of the operand is there, and the result goes to its beginning
	}
	send, recv := k.send(sendbuf, whole, datatype), k.receive(recvbuf, own, datatype)
	with := k.operator(op, datatype)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.ReduceScatter(send, recv, counts, with))
}
