package binding

import "banyan/internal/mpi/comm"

// distGraph is a graph of which each rank knows its own edges.
type distGraph struct {
	sources, destinations []int32
	// weights are nil where the graph has none.
	sourceWeights, destWeights []int32
	weighted                   bool
}

func (t *distGraph) neighbours() comm.Neighbours {
	var n comm.Neighbours
	for _, r := range t.sources {
		n.Sources = append(n.Sources, int(r))
	}
	for _, r := range t.destinations {
		n.Destinations = append(n.Destinations, int(r))
	}
	return n
}

// distGraph is the topology of a communicator that must be a distributed graph. If there is
// none, the call returns the code.
func (p *Process) distGraph(function string, h Comm) (*communicator, *distGraph, Code) {
	c := p.communicator(h)
	if c == nil {
		return nil, nil, p.noComm(function, h)
	}
	t, ok := c.topology.(*distGraph)
	if !ok {
		return nil, nil, p.fail(c, function, ErrTopology, "%s has no distributed graph topology", c.title())
	}
	return c, t, Success
}

// readWeights are as many weights as edges, or none if the argument is MPI_UNWEIGHTED or
// MPI_WEIGHTS_EMPTY.
func readWeights(weights *int32, n int32) []int32 {
	if weights == Unweighted || weights == WeightsEmpty {
		return nil
	}
	return append([]int32(nil), array(weights, n)...)
}

// readNodes are nodes, checked to be ranks of the communicator.
func (p *Process) readNodes(function string, c *communicator, what string, nodes *int32, n int32) ([]int32, Code) {
	if n < 0 || n > 0 && nodes == nil {
		return nil, p.fail(c, function, ErrArg, "%d %s, in an array at %p", n, what, nodes)
	}
	list := append([]int32(nil), array(nodes, n)...)
	for _, r := range list {
		if r < 0 || int(r) >= c.comm.Size() {
			return nil, p.fail(c, function, ErrRank, "%d is among the %s, and %s has %d ranks", r, what, c.title(), c.comm.Size())
		}
	}
	return list, Success
}

// DistGraphCreateAdjacent is MPI_Dist_graph_create_adjacent. Ranks keep their order.
func (p *Process) DistGraphCreateAdjacent(commOld Comm, indegree int32, sources, sourceweights *int32, outdegree int32, destinations, destweights *int32, info Info, reorder int32, commDistGraph *Comm) Code {
	const function = "MPI_Dist_graph_create_adjacent"
	c := p.communicator(commOld)
	if c == nil {
		return p.noComm(function, commOld)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	if (sourceweights == Unweighted) != (destweights == Unweighted) {
		return p.fail(c, function, ErrArg, "either both directions have weights or none has")
	}
	t := &distGraph{weighted: sourceweights != Unweighted}
	var code Code
	if t.sources, code = p.readNodes(function, c, "sources", sources, indegree); code != Success {
		return code
	}
	if t.destinations, code = p.readNodes(function, c, "destinations", destinations, outdegree); code != Success {
		return code
	}
	if t.weighted {
		t.sourceWeights, t.destWeights = readWeights(sourceweights, indegree), readWeights(destweights, outdegree)
	}
	return p.arrange(function, c, c.comm.Size(), func(int) topology { return t }, commDistGraph)
}

// DistGraphCreate is MPI_Dist_graph_create. Both ends of each edge learn of it.
func (p *Process) DistGraphCreate(commOld Comm, n int32, sources, degrees, destinations, weights *int32, info Info, reorder int32, commDistGraph *Comm) Code {
	const function = "MPI_Dist_graph_create"
	c := p.communicator(commOld)
	if c == nil {
		return p.noComm(function, commOld)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	from, code := p.readNodes(function, c, "sources", sources, n)
	if code != Success {
		return code
	}
	if n > 0 && degrees == nil {
		return p.fail(c, function, ErrArg, "the degrees of %d sources are NULL", n)
	}
	total := int32(0)
	for i, d := range array(degrees, n) {
		if d < 0 {
			return p.fail(c, function, ErrArg, "the degree of source %d is %d", i, d)
		}
		total += d
	}
	to, code := p.readNodes(function, c, "destinations", destinations, total)
	if code != Success {
		return code
	}
	t := &distGraph{weighted: weights != Unweighted}
	if err := t.gather(c.comm, from, array(degrees, n), to, readWeights(weights, total)); err != nil {
		return p.failWith(c, function, err)
	}
	return p.arrange(function, c, c.comm.Size(), func(int) topology { return t }, commDistGraph)
}

// gather fills the topology from the edges that all ranks name.
func (t *distGraph) gather(c *comm.Comm, from, degrees, to, weights []int32) error {
	var edges []comm.Edge
	for i, source := range from {
		for range degrees[i] {
			e := comm.Edge{From: source, To: to[len(edges)]}
			if weights != nil {
				e.Weight = weights[len(edges)]
			}
			edges = append(edges, e)
		}
	}
	in, out, err := c.GatherEdges(edges)
	if err != nil {
		return err
	}
	for _, e := range out {
		t.destinations, t.destWeights = append(t.destinations, e.To), append(t.destWeights, e.Weight)
	}
	for _, e := range in {
		t.sources, t.sourceWeights = append(t.sources, e.From), append(t.sourceWeights, e.Weight)
	}
	if !t.weighted {
		t.destWeights, t.sourceWeights = nil, nil
	}
	return nil
}

// DistGraphNeighborsCount is MPI_Dist_graph_neighbors_count.
func (p *Process) DistGraphNeighborsCount(comm Comm, indegree, outdegree, weighted *int32) Code {
	_, t, code := p.distGraph("MPI_Dist_graph_neighbors_count", comm)
	if code == Success {
		*indegree, *outdegree, *weighted = int32(len(t.sources)), int32(len(t.destinations)), truth(t.weighted)
	}
	return code
}

// DistGraphNeighbors is MPI_Dist_graph_neighbors.
func (p *Process) DistGraphNeighbors(comm Comm, maxindegree int32, sources, sourceweights *int32, maxoutdegree int32, destinations, destweights *int32) Code {
	const function = "MPI_Dist_graph_neighbors"
	c, t, code := p.distGraph(function, comm)
	switch {
	case code != Success:
		return code
	case maxindegree < 0 || maxoutdegree < 0:
		return p.fail(c, function, ErrArg, "there is room for %d sources and %d destinations", maxindegree, maxoutdegree)
	}
	copy(array(sources, maxindegree), t.sources)
	copy(array(destinations, maxoutdegree), t.destinations)
	if sourceweights != Unweighted && sourceweights != WeightsEmpty {
		copy(array(sourceweights, maxindegree), t.sourceWeights)
	}
	if destweights != Unweighted && destweights != WeightsEmpty {
		copy(array(destweights, maxoutdegree), t.destWeights)
	}
	return Success
}
