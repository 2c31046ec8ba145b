package binding

import "banyan/internal/mpi/comm"

// topology is a communicator's topology, for the neighbourhood collectives.
type topology interface {
	// neighbours are this rank's, in the order of the blocks. ProcNull is no
	// neighbour; see comm.Neighbours for Order.
	neighbours() comm.Neighbours
}

// arrange makes a communicator with a topology, of the first ranks of another. The other ranks
// get MPI_COMM_NULL.
func (p *Process) arrange(function string, c *communicator, size int, of func(rank int) topology, newcomm *Comm) Code {
	*newcomm = CommNull
	inner, err := c.comm.Create(c.comm.Ranks()[:size])
	if err != nil {
		return p.failWith(c, function, err)
	}
	if inner == nil {
		return Success
	}
	made := p.newCommunicator(c, inner)
	made.topology = of(inner.Rank())
	return p.publishComm(function, c, made, newcomm)
}

// mappedRank is the rank that this process would have in a topology of some size.
func mappedRank(c *communicator, size int) int32 {
	if c.comm.Rank() < size {
		return int32(c.comm.Rank())
	}
	return Undefined
}

// TopoTest is MPI_Topo_test.
func (p *Process) TopoTest(comm Comm, status *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Topo_test", comm)
	}
	switch c.topology.(type) {
	case *cartesian:
		*status = Cart
	case *graph:
		*status = Graph
	case *distGraph:
		*status = DistGraph
	default:
		*status = Undefined
	}
	return Success
}
