package binding

import "banyan/internal/mpi/comm"

// graph is a graph that every rank knows whole: edges[ends[r-1]:ends[r]] are the
// neighbours of r.
type graph struct {
	ends, edges []int32
	rank        int
}

// of is the neighbours of a rank.
func (t *graph) of(rank int) []int32 {
	begin := int32(0)
	if rank > 0 {
		begin = t.ends[rank-1]
	}
	return t.edges[begin:t.ends[rank]]
}

func (t *graph) neighbours() comm.Neighbours {
	var n comm.Neighbours
	for _, r := range t.of(t.rank) {
		n.Sources = append(n.Sources, int(r))
	}
	n.Destinations = n.Sources
	return n
}

// graph is the topology of a communicator that must be a graph. If there is none, the call
// returns the code.
func (p *Process) graph(function string, h Comm) (*communicator, *graph, Code) {
	c := p.communicator(h)
	if c == nil {
		return nil, nil, p.noComm(function, h)
	}
	t, ok := c.topology.(*graph)
	if !ok {
		return nil, nil, p.fail(c, function, ErrTopology, "%s has no graph topology", c.title())
	}
	return c, t, Success
}

// readGraph checks a graph for a communicator.
func (p *Process) readGraph(function string, c *communicator, nnodes int32, indx, edges *int32) (*graph, Code) {
	if nnodes < 0 || int(nnodes) > c.comm.Size() {
		return nil, p.fail(c, function, ErrArg, "a graph of %d nodes for the %d ranks of %s", nnodes, c.comm.Size(), c.title())
	}
	t := &graph{ends: append([]int32(nil), array(indx, nnodes)...)}
	last := int32(0)
	for i, end := range t.ends {
		if end < last {
			return nil, p.fail(c, function, ErrArg, "the index %d of node %d is below that of the node before", end, i)
		}
		last = end
	}
	t.edges = append(t.edges, array(edges, last)...)
	if len(t.edges) < int(last) || len(t.ends) < int(nnodes) {
		return nil, p.fail(c, function, ErrArg, "the array of indices or edges is missing")
	}
	for _, r := range t.edges {
		if r < 0 || r >= nnodes {
			return nil, p.fail(c, function, ErrArg, "an edge to node %d of %d", r, nnodes)
		}
	}
	return t, Success
}

// GraphCreate is MPI_Graph_create. Ranks keep their order.
func (p *Process) GraphCreate(commOld Comm, nnodes int32, indx, edges *int32, reorder int32, commGraph *Comm) Code {
	const function = "MPI_Graph_create"
	c := p.communicator(commOld)
	if c == nil {
		return p.noComm(function, commOld)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	*commGraph = CommNull
	t, code := p.readGraph(function, c, nnodes, indx, edges)
	if code != Success {
		return code
	}
	return p.arrange(function, c, int(nnodes), func(rank int) topology { t.rank = rank; return t }, commGraph)
}

// GraphMap is MPI_Graph_map.
func (p *Process) GraphMap(comm Comm, nnodes int32, indx, edges, newrank *int32) Code {
	const function = "MPI_Graph_map"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	if _, code := p.readGraph(function, c, nnodes, indx, edges); code != Success {
		return code
	}
	*newrank = mappedRank(c, int(nnodes))
	return Success
}

// GraphdimsGet is MPI_Graphdims_get.
func (p *Process) GraphdimsGet(comm Comm, nnodes, nedges *int32) Code {
	_, t, code := p.graph("MPI_Graphdims_get", comm)
	if code == Success {
		*nnodes, *nedges = int32(len(t.ends)), int32(len(t.edges))
	}
	return code
}

// GraphGet is MPI_Graph_get. It returns as much as fits.
func (p *Process) GraphGet(comm Comm, maxindex, maxedges int32, indx, edges *int32) Code {
	_, t, code := p.graph("MPI_Graph_get", comm)
	if code == Success {
		copy(array(indx, maxindex), t.ends)
		copy(array(edges, maxedges), t.edges)
	}
	return code
}

// GraphNeighborsCount is MPI_Graph_neighbors_count.
func (p *Process) GraphNeighborsCount(comm Comm, rank int32, nneighbors *int32) Code {
	of, code := p.graphNeighbours("MPI_Graph_neighbors_count", comm, rank)
	if code == Success {
		*nneighbors = int32(len(of))
	}
	return code
}

// GraphNeighbors is MPI_Graph_neighbors. It returns as many as fit.
func (p *Process) GraphNeighbors(comm Comm, rank, maxneighbors int32, neighbors *int32) Code {
	of, code := p.graphNeighbours("MPI_Graph_neighbors", comm, rank)
	if code == Success {
		copy(array(neighbors, maxneighbors), of)
	}
	return code
}

func (p *Process) graphNeighbours(function string, h Comm, rank int32) ([]int32, Code) {
	c, t, code := p.graph(function, h)
	switch {
	case code != Success:
		return nil, code
	case rank < 0 || int(rank) >= len(t.ends):
		return nil, p.fail(c, function, ErrRank, "the rank is %d, and the graph has %d nodes", rank, len(t.ends))
	}
	return t.of(int(rank)), Success
}
