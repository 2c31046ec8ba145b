package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// NeighborAllgather is MPI_Neighbor_allgather, MPI_Ineighbor_allgather
// and MPI_Neighbor_allgather_init.
func (p *Process) NeighborAllgather(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.within(v, comm, ErrTopology)
	if k == nil {
		return code
	}
	to := k.neighbours()
	in := present(to.Sources, k.strided(recvbuf, recvcount, recvtype))
	send, recv := k.send(sendbuf, sendcount, sendtype), k.parts(0, len(to.Sources), inwards, in)
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.NeighbourAllgather(send, recv, to))
}

// NeighborAllgatherv is MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv
// and MPI_Neighbor_allgatherv_init.
func (p *Process) NeighborAllgatherv(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.within(v, comm, ErrTopology)
	if k == nil {
		return code
	}
	to := k.neighbours()
	in := present(to.Sources, k.displaced(recvbuf, recvcounts, displs, recvtype))
	send, recv := k.send(sendbuf, sendcount, sendtype), k.parts(0, len(to.Sources), inwards, in)
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.NeighbourAllgather(send, recv, to))
}

// NeighborAlltoall is MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall
// and MPI_Neighbor_alltoall_init.
func (p *Process) NeighborAlltoall(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.within(v, comm, ErrTopology)
	if k == nil {
		return code
	}
	to := k.neighbours()
	return k.neighbourAlltoall(to, k.strided(sendbuf, sendcount, sendtype), k.strided(recvbuf, recvcount, recvtype))
}

// NeighborAlltoallv is MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv
// and MPI_Neighbor_alltoallv_init.
func (p *Process) NeighborAlltoallv(v Variant, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.within(v, comm, ErrTopology)
	if k == nil {
		return code
	}
	to := k.neighbours()
	return k.neighbourAlltoall(to, k.displaced(sendbuf, sendcounts, sdispls, sendtype), k.displaced(recvbuf, recvcounts, rdispls, recvtype))
}

// NeighborAlltoallw is MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw
// and MPI_Neighbor_alltoallw_init.
func (p *Process) NeighborAlltoallw(v Variant, sendbuf unsafe.Pointer, sendcounts Counts, sdispls *int64, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts Counts, rdispls *int64, recvtypes *Datatype, comm Comm) Code {
	k, code := p.within(v, comm, ErrTopology)
	if k == nil {
		return code
	}
	to := k.neighbours()
	out := k.typed(sendbuf, sendcounts, addresses(sdispls), sendtypes)
	in := k.typed(recvbuf, recvcounts, addresses(rdispls), recvtypes)
	return k.neighbourAlltoall(to, out, in)
}

// neighbours are those of the communicator's topology.
func (k *collective) neighbours() comm.Neighbours {
	if k.c.topology == nil {
		k.fail(ErrTopology, "the communicator has no topology")
		return comm.Neighbours{}
	}
	return k.c.topology.neighbours()
}

func (k *collective) neighbourAlltoall(to comm.Neighbours, out, in func(i int) part) Code {
	send := k.parts(1, len(to.Destinations), outwards, present(to.Destinations, out))
	recv := k.parts(0, len(to.Sources), inwards, present(to.Sources, in))
	if !k.apart() {
		return k.stop()
	}
	return k.end(k.c.comm.NeighbourAlltoall(send, recv, to))
}

// present are the blocks of those neighbours that there are.
func present(ranks []int, at func(i int) part) func(i int) part {
	return func(i int) part {
		x := at(i)
		if ranks[i] < 0 {
			x.count = min(x.count, 0)
		}
		return x
	}
}

// addresses are displacements that are addresses in both forms of a function.
func addresses(displs *int64) Counts { return Counts{P: unsafe.Pointer(displs), Wide: true} }
