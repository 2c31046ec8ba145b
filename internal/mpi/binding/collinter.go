package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// Collectives on intercommunicators. The blocks of a rank are those of the ranks of the other
// group, which is what size counts. MPI_IN_PLACE has no meaning here, and is refused as a bad
// buffer is.

// elsewhere begins a call on an intercommunicator, for which collective has returned nil. It
// returns nil if there is no such communicator either.
func (p *Process) elsewhere(v Variant, h Comm) *collective {
	c := p.communicator(h)
	if c == nil || c.inter == nil {
		return nil
	}
	return &collective{Variant: v, p: p, c: c, code: Success}
}

// within is collective for a call that has no meaning on an intercommunicator.
func (p *Process) within(v Variant, h Comm, class Code) (*collective, Code) {
	k, code := p.collective(v, h)
	if k == nil {
		if c := p.communicator(h); c != nil {
			code = p.fail(c, v.function, class, "%s is an intercommunicator, and this function is for intracommunicators", c.title())
		}
	}
	return k, code
}

// rootAcross is a root in the words of package comm.
func (k *collective) rootAcross(root int32) int {
	switch {
	case root == Root:
		return comm.Root
	case root == ProcNull:
		return comm.Bystander
	case root < 0 || int(root) >= k.size():
		k.fail(ErrRoot, "the root is %d: neither MPI_ROOT nor MPI_PROC_NULL, and the remote group has %d ranks", root, k.size())
	}
	return int(root)
}

// notInPlace refuses MPI_IN_PLACE.
func (k *collective) notInPlace(buffers ...unsafe.Pointer) {
	for _, b := range buffers {
		if isInPlace(b) {
			k.fail(ErrBuffer, "MPI_IN_PLACE on an intercommunicator")
		}
	}
}

// ends ends a call: plan is made only if the arguments are right.
func (k *collective) ends(plan func() *comm.Plan) Code {
	if !k.apart() {
		return k.stop()
	}
	return k.end(plan())
}

func (k *collective) barrierAcross() Code { return k.end(k.c.inter.Barrier()) }

func (k *collective) bcastAcross(buffer unsafe.Pointer, count int64, datatype Datatype, root int32) Code {
	var b []byte
	r := k.rootAcross(root)
	if r != comm.Bystander {
		b = k.message(buffer, count, datatype, r == comm.Root, r != comm.Root)
	}
	return k.ends(func() *comm.Plan { return k.c.inter.Bcast(b, r) })
}

func (k *collective) gatherAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32) Code {
	var send []byte
	var recv blocks
	r := k.rootAcross(root)
	switch r {
	case comm.Bystander:
	case comm.Root:
		k.notInPlace(recvbuf)
		recv = k.even(k.receive(recvbuf, k.times(recvcount), recvtype))
	default:
		k.notInPlace(sendbuf)
		send = k.send(sendbuf, sendcount, sendtype)
	}
	return k.ends(func() *comm.Plan { return k.c.inter.Gather(send, recv, r) })
}

// even are equal blocks, one for each rank of the other group.
func (k *collective) even(data []byte) blocks { return blocks{Data: data, Each: len(data) / k.size()} }

func (k *collective) gathervAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32) Code {
	var send []byte
	var recv blocks
	r := k.rootAcross(root)
	switch r {
	case comm.Bystander:
	case comm.Root:
		k.notInPlace(recvbuf)
		recv = k.parts(0, k.size(), inwards, k.displaced(recvbuf, recvcounts, displs, recvtype))
	default:
		k.notInPlace(sendbuf)
		send = k.send(sendbuf, sendcount, sendtype)
	}
	return k.ends(func() *comm.Plan { return k.c.inter.Gather(send, recv, r) })
}

func (k *collective) scatterAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32) Code {
	var send blocks
	var recv []byte
	r := k.rootAcross(root)
	switch r {
	case comm.Bystander:
	case comm.Root:
		k.notInPlace(sendbuf)
		send = k.even(k.send(sendbuf, k.times(sendcount), sendtype))
	default:
		k.notInPlace(recvbuf)
		recv = k.receive(recvbuf, recvcount, recvtype)
	}
	return k.ends(func() *comm.Plan { return k.c.inter.Scatter(send, recv, r) })
}

func (k *collective) scattervAcross(sendbuf unsafe.Pointer, sendcounts, displs Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, root int32) Code {
	var send blocks
	var recv []byte
	r := k.rootAcross(root)
	switch r {
	case comm.Bystander:
	case comm.Root:
		k.notInPlace(sendbuf)
		send = k.parts(0, k.size(), outwards, k.displaced(sendbuf, sendcounts, displs, sendtype))
	default:
		k.notInPlace(recvbuf)
		recv = k.receive(recvbuf, recvcount, recvtype)
	}
	return k.ends(func() *comm.Plan { return k.c.inter.Scatter(send, recv, r) })
}

func (k *collective) allgatherAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype) Code {
	k.notInPlace(sendbuf, recvbuf)
	send := k.send(sendbuf, sendcount, sendtype)
	recv := k.even(k.receive(recvbuf, k.times(recvcount), recvtype))
	return k.ends(func() *comm.Plan { return k.c.inter.Allgather(send, recv) })
}

func (k *collective) allgathervAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype) Code {
	k.notInPlace(sendbuf, recvbuf)
	send := k.send(sendbuf, sendcount, sendtype)
	recv := k.parts(0, k.size(), inwards, k.displaced(recvbuf, recvcounts, displs, recvtype))
	return k.ends(func() *comm.Plan { return k.c.inter.Allgather(send, recv) })
}

func (k *collective) alltoallAcross(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype) Code {
	k.notInPlace(sendbuf, recvbuf)
	send := k.even(k.send(sendbuf, k.times(sendcount), sendtype))
	recv := k.even(k.receive(recvbuf, k.times(recvcount), recvtype))
	return k.ends(func() *comm.Plan { return k.c.inter.Alltoall(send, recv) })
}

// alltoallvAcross is MPI_Alltoallv and MPI_Alltoallw.
func (k *collective) alltoallvAcross(sendbuf, recvbuf unsafe.Pointer, out, in func(i int) part) Code {
	k.notInPlace(sendbuf, recvbuf)
	send, recv := k.parts(1, k.size(), outwards, out), k.parts(0, k.size(), inwards, in)
	return k.ends(func() *comm.Plan { return k.c.inter.Alltoall(send, recv) })
}

func (k *collective) reduceAcross(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32) Code {
	var send, recv []byte
	r := k.rootAcross(root)
	switch r {
	case comm.Bystander:
		return k.ends(func() *comm.Plan { return k.c.inter.Reduce(nil, nil, comm.Op{}, r) })
	case comm.Root:
		k.notInPlace(recvbuf)
		recv = k.receive(recvbuf, count, datatype)
	default:
		k.notInPlace(sendbuf)
		send = k.send(sendbuf, count, datatype)
	}
	with := k.operator(op, datatype)
	return k.ends(func() *comm.Plan { return k.c.inter.Reduce(send, recv, with, r) })
}

func (k *collective) allreduceAcross(sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op) Code {
	k.notInPlace(sendbuf, recvbuf)
	send, recv := k.send(sendbuf, count, datatype), k.receive(recvbuf, count, datatype)
	with := k.operator(op, datatype)
	return k.ends(func() *comm.Plan { return k.c.inter.Allreduce(send, recv, with) })
}

// reduceScatterAcross takes the counts of this rank's group; nil: all are own.
func (k *collective) reduceScatterAcross(sendbuf, recvbuf unsafe.Pointer, whole, own int64, counts []int, datatype Datatype, op Op) Code {
	k.notInPlace(sendbuf, recvbuf)
	send, recv := k.send(sendbuf, whole, datatype), k.receive(recvbuf, own, datatype)
	with := k.operator(op, datatype)
	return k.ends(func() *comm.Plan { return k.c.inter.ReduceScatter(send, recv, counts, with) })
}
