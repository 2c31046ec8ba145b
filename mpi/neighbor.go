package mpi

import "banyan/internal/mpi/comm"

// The neighbourhood collectives exchange data with the neighbours that a communicator of Cart,
// Graph or GraphOf has. Their parts are in the order of Comm.Neighbors. The part of a neighbour
// that is ProcNull isn't used.

// NeighborAllgather sends send to all destinations, and receives from source i into the i-th part
// of recv. All parts are as long as send.
func NeighborAllgather[T Element](c *Comm, send, recv []T) error {
	return c.run(neighborAllgather(c, send, recv))
}

// NeighborAllgatherv is NeighborAllgather for different lengths: counts[i] elements come from
// source i.
func NeighborAllgatherv[T Element](c *Comm, send, recv []T, counts []int) error {
	return c.run(neighborAllgatherv(c, send, recv, counts))
}

// NeighborAlltoall sends the i-th part of send to destination i, and receives from source i into
// the i-th part of recv. All parts are of one length.
func NeighborAlltoall[T Element](c *Comm, send, recv []T) error {
	return c.run(neighborAlltoall(c, send, recv))
}

// NeighborAlltoallv is NeighborAlltoall for parts of different lengths, which follow each other.
func NeighborAlltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) error {
	return c.run(neighborAlltoallv(c, send, sendCounts, recv, recvCounts))
}

// NeighborAlltoallw is NeighborAlltoall for parts anywhere in memory, each with elements of its own
// type.
func NeighborAlltoallw(c *Comm, send, recv []Part) error {
	return c.run(neighborAlltoallw(c, send, recv))
}

// IneighborAllgather starts a NeighborAllgather.
func IneighborAllgather[T Element](c *Comm, send, recv []T) (Request, error) {
	return c.start(neighborAllgather(c, send, recv))
}

// IneighborAllgatherv starts a NeighborAllgatherv.
func IneighborAllgatherv[T Element](c *Comm, send, recv []T, counts []int) (Request, error) {
	return c.start(neighborAllgatherv(c, send, recv, counts))
}

// IneighborAlltoall starts a NeighborAlltoall.
func IneighborAlltoall[T Element](c *Comm, send, recv []T) (Request, error) {
	return c.start(neighborAlltoall(c, send, recv))
}

// IneighborAlltoallv starts a NeighborAlltoallv.
func IneighborAlltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) (Request, error) {
	return c.start(neighborAlltoallv(c, send, sendCounts, recv, recvCounts))
}

// IneighborAlltoallw starts a NeighborAlltoallw.
func IneighborAlltoallw(c *Comm, send, recv []Part) (Request, error) {
	return c.start(neighborAlltoallw(c, send, recv))
}

// badAmong is bad for a collective among neighbours, who must be there.
func badAmong[T Element](c *Comm, op string) *comm.Plan {
	if c.topo == nil {
		return c.c.Refused(op, ErrTopology)
	}
	return bad[T](c, op)
}

func neighborAllgather[T Element](c *Comm, send, recv []T) *comm.Plan {
	if p := badAmong[T](c, "Neighbor_allgather"); p != nil {
		return p
	}
	data := bytesOf(send)
	return c.c.NeighbourAllgather(data, comm.Blocks{Data: bytesOf(recv), Each: len(data)}, c.topo.neighbours)
}

func neighborAllgatherv[T Element](c *Comm, send, recv []T, counts []int) *comm.Plan {
	if p := badAmong[T](c, "Neighbor_allgather"); p != nil {
		return p
	}
	return c.c.NeighbourAllgather(bytesOf(send), blocks(recv, counts), c.topo.neighbours)
}

func neighborAlltoall[T Element](c *Comm, send, recv []T) *comm.Plan {
	if p := badAmong[T](c, "Neighbor_alltoall"); p != nil {
		return p
	}
	n := c.topo.neighbours
	return c.c.NeighbourAlltoall(equal(send, len(n.Destinations)), equal(recv, len(n.Sources)), n)
}

// equal are n parts of one length, a whole number of elements. If the slice has no such parts the
// plan refuses them.
func equal[T Element](s []T, n int) comm.Blocks {
	return comm.Blocks{Data: bytesOf(s), Each: len(s) / max(n, 1) * size[T]()}
}

func neighborAlltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) *comm.Plan {
	if p := badAmong[T](c, "Neighbor_alltoall"); p != nil {
		return p
	}
	return c.c.NeighbourAlltoall(blocks(send, sendCounts), blocks(recv, recvCounts), c.topo.neighbours)
}

func neighborAlltoallw(c *Comm, send, recv []Part) *comm.Plan {
	if p := badAmong[byte](c, "Neighbor_alltoall"); p != nil {
		return p
	}
	if err := wrongPart(send, recv); err != nil {
		return c.c.Refused("Neighbor_alltoall", err)
	}
	return c.c.NeighbourAlltoall(parts(send), parts(recv), c.topo.neighbours)
}
