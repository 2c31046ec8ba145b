package binding

import "unsafe"

// ReduceScatter is MPI_Reduce_scatter, MPI_Ireduce_scatter and MPI_Reduce_scatter_init.
func (p *Process) ReduceScatter(v Variant, sendbuf, recvbuf unsafe.Pointer, recvcounts Counts, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k == nil {
			return code
		}
	}
	if recvcounts.IsNil() {
		k.fail(ErrArg, "the array of counts is null")
	}
	counts, whole := make([]int, k.members()), int64(0)
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

// ReduceScatterBlock is MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block
// and MPI_Reduce_scatter_block_init.
func (p *Process) ReduceScatterBlock(v Variant, sendbuf, recvbuf unsafe.Pointer, recvcount int64, datatype Datatype, op Op, comm Comm) Code {
	k, code := p.collective(v, comm)
	if k == nil {
		if k = p.elsewhere(v, comm); k == nil {
			return code
		}
	}
	whole := recvcount // the next check reports a wrong one
	if whole >= 0 && whole <= maxData {
		whole *= int64(k.members())
	}
	return k.reduceScatter(sendbuf, recvbuf, whole, recvcount, nil, datatype, op)
}

func (k *collective) reduceScatter(sendbuf, recvbuf unsafe.Pointer, whole, own int64, counts []int, datatype Datatype, op Op) Code {
	if k.c.inter != nil {
		return k.reduceScatterAcross(sendbuf, recvbuf, whole, own, counts, datatype, op)
	}
	inPlace := isInPlace(sendbuf)
	if inPlace {
		sendbuf = recvbuf // all of the operand is there, and the result goes to its beginning
	}
	send, recv := k.send(sendbuf, whole, datatype), k.receive(recvbuf, own, datatype)
	if inPlace {
		k.reach = [2]reach{}
	}
	with := k.operator(op, datatype)
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.ReduceScatter(send, recv, counts, with))
}

// members is the number of ranks of this rank's group.
func (k *collective) members() int {
	if k.c.inter != nil {
		return k.c.inter.LocalSize()
	}
	return k.size()
}
