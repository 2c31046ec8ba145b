package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// NeighborAllgather is MPI_Neighbor_allgather, MPI_Neighbor_allgather_c.
func (p *Process) NeighborAllgather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	return p.neighborAllgather(blocking("MPI_Neighbor_allgather"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// IneighborAllgather is MPI_Ineighbor_allgather, MPI_Ineighbor_allgather_c.
func (p *Process) IneighborAllgather(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, request *Request) Code {
	return p.neighborAllgather(started("MPI_Ineighbor_allgather", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// NeighborAllgatherInit is MPI_Neighbor_allgather_init, MPI_Neighbor_allgather_init_c.
func (p *Process) NeighborAllgatherInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.neighborAllgather(kept("MPI_Neighbor_allgather_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

func (p *Process) neighborAllgather(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	to := k.neighbours()
	in := present(to.Sources, k.strided(recvbuf, recvcount, recvtype))
	send, recv := k.send(sendbuf, sendcount, sendtype), k.parts(0, len(to.Sources), inwards, in)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.NeighbourAllgather(send, recv, to))
}

// NeighborAllgatherv is MPI_Neighbor_allgatherv, MPI_Neighbor_allgatherv_c.
func (p *Process) NeighborAllgatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	return p.neighborAllgatherv(blocking("MPI_Neighbor_allgatherv"), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

// IneighborAllgatherv is MPI_Ineighbor_allgatherv, MPI_Ineighbor_allgatherv_c.
func (p *Process) IneighborAllgatherv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm, request *Request) Code {
	return p.neighborAllgatherv(started("MPI_Ineighbor_allgatherv", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

// NeighborAllgathervInit is MPI_Neighbor_allgatherv_init, MPI_Neighbor_allgatherv_init_c.
func (p *Process) NeighborAllgathervInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.neighborAllgatherv(kept("MPI_Neighbor_allgatherv_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
}

func (p *Process) neighborAllgatherv(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	to := k.neighbours()
	in := present(to.Sources, k.placed(recvbuf, recvcounts, displs, recvtype))
	send, recv := k.send(sendbuf, sendcount, sendtype), k.parts(0, len(to.Sources), inwards, in)
	if !k.good() {
		return k.stop()
	}
	return k.end(k.c.comm.NeighbourAllgather(send, recv, to))
}

// NeighborAlltoall is MPI_Neighbor_alltoall, MPI_Neighbor_alltoall_c.
func (p *Process) NeighborAlltoall(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	return p.neighborAlltoall(blocking("MPI_Neighbor_alltoall"), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// IneighborAlltoall is MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoall_c.
func (p *Process) IneighborAlltoall(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, request *Request) Code {
	return p.neighborAlltoall(started("MPI_Ineighbor_alltoall", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

// NeighborAlltoallInit is MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoall_init_c.
func (p *Process) NeighborAlltoallInit(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.neighborAlltoall(kept("MPI_Neighbor_alltoall_init", request), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
}

func (p *Process) neighborAlltoall(m manner, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	to := k.neighbours()
	return k.neighbourAlltoall(to, k.strided(sendbuf, sendcount, sendtype), k.strided(recvbuf, recvcount, recvtype))
}

// NeighborAlltoallv is MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallv_c.
func (p *Process) NeighborAlltoallv(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	return p.neighborAlltoallv(blocking("MPI_Neighbor_alltoallv"), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

// IneighborAlltoallv is MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallv_c.
func (p *Process) IneighborAlltoallv(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm, request *Request) Code {
	return p.neighborAlltoallv(started("MPI_Ineighbor_alltoallv", request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

// NeighborAlltoallvInit is MPI_Neighbor_alltoallv_init, MPI_Neighbor_alltoallv_init_c.
func (p *Process) NeighborAlltoallvInit(sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm, info Info, request *Request) Code {
	return p.neighborAlltoallv(kept("MPI_Neighbor_alltoallv_init", request), sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
}

func (p *Process) neighborAlltoallv(m manner, sendbuf unsafe.Pointer, sendcounts, sdispls Counts, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, rdispls Counts, recvtype Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
	if k == nil {
		return code
	}
	to := k.neighbours()
	return k.neighbourAlltoall(to, k.placed(sendbuf, sendcounts, sdispls, sendtype), k.placed(recvbuf, recvcounts, rdispls, recvtype))
}

// NeighborAlltoallw is MPI_Neighbor_alltoallw, MPI_Neighbor_alltoallw_c.
func (p *Process) NeighborAlltoallw(sendbuf unsafe.Pointer, sendcounts Counts, sdispls *int64, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts Counts, rdispls *int64, recvtypes *Datatype, comm Comm) Code {
	return p.neighborAlltoallw(blocking("MPI_Neighbor_alltoallw"), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

// IneighborAlltoallw is MPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoallw_c.
func (p *Process) IneighborAlltoallw(sendbuf unsafe.Pointer, sendcounts Counts, sdispls *int64, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts Counts, rdispls *int64, recvtypes *Datatype, comm Comm, request *Request) Code {
	return p.neighborAlltoallw(started("MPI_Ineighbor_alltoallw", request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

// NeighborAlltoallwInit is MPI_Neighbor_alltoallw_init, MPI_Neighbor_alltoallw_init_c.
func (p *Process) NeighborAlltoallwInit(sendbuf unsafe.Pointer, sendcounts Counts, sdispls *int64, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts Counts, rdispls *int64, recvtypes *Datatype, comm Comm, info Info, request *Request) Code {
	return p.neighborAlltoallw(kept("MPI_Neighbor_alltoallw_init", request), sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
}

func (p *Process) neighborAlltoallw(m manner, sendbuf unsafe.Pointer, sendcounts Counts, sdispls *int64, sendtypes *Datatype, recvbuf unsafe.Pointer, recvcounts Counts, rdispls *int64, recvtypes *Datatype, comm Comm) Code {
	k, code := p.collective(m, comm)
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
	if !k.good() {
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
