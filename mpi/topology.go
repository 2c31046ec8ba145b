package mpi

import (
	"fmt"
	"slices"

	"banyan/internal/mpi/cart"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// topology says who is whose neighbour, for the neighbourhood collectives.
type topology struct {
	neighbours comm.Neighbours
	grid       *Grid // of a Cartesian one
}

// Grid is a Cartesian topology: its ranks in rows, the last dimension varying fastest.
type Grid struct {
	grid cart.Grid
	rank int
}

// Cart makes a communicator of the first ranks, arranged in a grid of dims. A dimension that is
// periodic is a ring: its last rank is followed by its first; nil means that none is. All ranks
// call it. A rank beyond the grid gets nil. The neighbours are, for each dimension, the rank before
// this one and the rank after it, ProcNull where the grid ends.
func (c *Comm) Cart(dims []int, periodic []bool) (*Comm, error) {
	size := 1
	for _, d := range dims {
		if d < 1 || size > c.Size()/d {
			return nil, c.refused("Cart", comm.NoPeer, 0, fmt.Errorf("the dimensions %v for %d ranks: %w", dims, c.Size(), ErrSize))
		}
		size *= d
	}
	if periodic == nil {
		periodic = make([]bool, len(dims))
	}
	if len(periodic) != len(dims) {
		return nil, c.refused("Cart", comm.NoPeer, 0, fmt.Errorf("%d dimensions and %d values of periodic: %w", len(dims), len(periodic), ErrSize))
	}
	inner, err := c.c.Create(c.c.Ranks()[:size])
	if err != nil || inner == nil {
		return nil, c.outcome(err)
	}
	return c.arranged(inner, cart.Grid{Dims: slices.Clone(dims), Periodic: slices.Clone(periodic)}), nil
}

func (c *Comm) arranged(inner *comm.Comm, g cart.Grid) *Comm {
	d := c.with(inner)
	d.topo = &topology{comm.GridNeighbours(g, d.Rank(), ProcNull), &Grid{g, d.Rank()}}
	return d
}

// Grid is the grid of a communicator that Cart or SubCart has made; nil for others.
func (c *Comm) Grid() *Grid {
	if c.topo == nil {
		return nil
	}
	return c.topo.grid
}

// SubCart makes a communicator of each of the grids that remain if only some dimensions are kept,
// such as the rows of a matrix. All ranks of a grid call it, with a bool for each dimension.
func (c *Comm) SubCart(keep ...bool) (*Comm, error) {
	g := c.Grid()
	if g == nil || len(keep) != len(g.grid.Dims) {
		return nil, c.refused("SubCart", comm.NoPeer, 0, fmt.Errorf("keep has %d values: %w", len(keep), ErrTopology))
	}
	sub, number := g.grid.Sub(g.rank, keep)
	inner, err := c.c.Split(number, 0)
	if err != nil {
		return nil, c.outcome(err)
	}
	return c.arranged(inner, sub), nil
}

// Dims are the numbers of ranks in each dimension.
func (g *Grid) Dims() []int { return slices.Clone(g.grid.Dims) }

// Periodic tells which dimensions are rings.
func (g *Grid) Periodic() []bool { return slices.Clone(g.grid.Periodic) }

// Coords are the coordinates of a rank of the grid; nil if it isn't one.
func (g *Grid) Coords(rank int) []int {
	if rank < 0 || rank >= g.grid.Size() {
		return nil
	}
	return g.grid.Coordinates(rank)
}

// Rank is the rank at some coordinates, which may be outside of the grid where it is periodic;
// ProcNull if there is none.
func (g *Grid) Rank(coords ...int) int {
	if len(coords) == len(g.grid.Dims) {
		if rank, ok := g.grid.Rank(coords); ok {
			return rank
		}
	}
	return ProcNull
}

// Shift are the ranks to exchange with when all data moves by some steps in a dimension: this rank
// receives from source and sends to dest. Either is ProcNull where the grid ends.
func (g *Grid) Shift(dimension, steps int) (source, dest int) {
	there := func(steps int) int {
		if dimension >= 0 && dimension < len(g.grid.Dims) {
			if rank, ok := g.grid.Shift(g.rank, dimension, steps); ok {
				return rank
			}
		}
		return ProcNull
	}
	return there(-steps), there(steps)
}

// Dims chooses the dimensions of a grid of n ranks: those that are given as 0 are filled in, as
// close to each other as possible, the largest first.
func Dims(n int, dims ...int) ([]int, error) {
	all := slices.Clone(dims)
	if n < 1 || len(dims) == 0 {
		return nil, fmt.Errorf("mpi: Dims: %d ranks in %d dimensions: %w", n, len(dims), ErrSize)
	}
	if err := cart.Balance(n, all); err != nil {
		return nil, fmt.Errorf("mpi: Dims: %v of %d ranks: %w: %w", dims, n, err, ErrSize)
	}
	return all, nil
}

// Edge is one of a graph: data goes from a rank to another.
type Edge struct{ From, To int }

// Graph makes a communicator of the same ranks in which each rank has neighbours: it receives from
// sources and sends to destinations, in this order. A rank may occur several times. All ranks call
// it. If the ranks disagree about an edge all get an error.
func (c *Comm) Graph(sources, destinations []int) (*Comm, error) {
	claims := make([]int32, 2*c.Size()) // by rank: edges from it, and to it
	for _, list := range [2][]int{sources, destinations} {
		for _, r := range list {
			if r < 0 || r >= c.Size() {
				return nil, c.refused("Graph", comm.NoPeer, 0, fmt.Errorf("rank %d of %d: %w", r, c.Size(), ErrRank))
			}
		}
	}
	for _, r := range sources {
		claims[2*r]++
	}
	for _, r := range destinations {
		claims[2*r+1]++
	}
	theirs := make([]int32, len(claims))
	if err := Alltoall(c, claims, theirs); err != nil {
		return nil, err
	}
	disagree := []int{c.Size()} // the lowest rank that does
	for r := range c.Size() {
		if claims[2*r] != theirs[2*r+1] || claims[2*r+1] != theirs[2*r] {
			disagree[0] = min(disagree[0], r)
		}
	}
	if err := Allreduce(c, disagree, disagree, Min); err != nil {
		return nil, err
	}
	if r := disagree[0]; r < c.Size() {
		return nil, c.refused("Graph", comm.NoPeer, 0, fmt.Errorf("rank %d and another name different numbers of edges between them: %w", r, ErrMismatch))
	}
	return c.graph(comm.Neighbours{Sources: slices.Clone(sources), Destinations: slices.Clone(destinations)})
}

// GraphOf is Graph for edges that any rank names: each rank gives some edges of the graph, and gets
// those that begin or end at it.
func (c *Comm) GraphOf(edges ...Edge) (*Comm, error) {
	given := make([]comm.Edge, len(edges))
	for i, e := range edges {
		if e.From < 0 || e.From >= c.Size() || e.To < 0 || e.To >= c.Size() {
			return nil, c.refused("GraphOf", comm.NoPeer, 0, fmt.Errorf("the edge from %d to %d of %d ranks: %w", e.From, e.To, c.Size(), ErrRank))
		}
		given[i] = comm.Edge{From: int32(e.From), To: int32(e.To)}
	}
	in, out, err := c.c.GatherEdges(given)
	if err != nil {
		return nil, c.outcome(err)
	}
	var n comm.Neighbours
	for _, e := range in {
		n.Sources = append(n.Sources, int(e.From))
	}
	for _, e := range out {
		n.Destinations = append(n.Destinations, int(e.To))
	}
	return c.graph(n)
}

func (c *Comm) graph(n comm.Neighbours) (*Comm, error) {
	inner, err := c.c.Create(slices.Clone[[]proto.Rank](c.c.Ranks()))
	if err != nil {
		return nil, c.outcome(err)
	}
	d := c.with(inner)
	d.topo = &topology{neighbours: n}
	return d, nil
}

// Neighbors are the ranks that the neighbourhood collectives receive from, and those that they send
// to; both nil without a topology.
func (c *Comm) Neighbors() (sources, destinations []int) {
	if c.topo == nil {
		return nil, nil
	}
	return slices.Clone(c.topo.neighbours.Sources), slices.Clone(c.topo.neighbours.Destinations)
}
