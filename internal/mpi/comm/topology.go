package comm

import (
	"encoding/binary"

	"banyan/internal/mpi/cart"
)

// GridNeighbours are a rank's neighbours in a grid: for each dimension the rank before it and the
// rank after it, none where the grid ends. none is what stands for no neighbour.
func GridNeighbours(g cart.Grid, rank, none int) (n Neighbours) {
	for i := range g.Dims {
		for _, steps := range [2]int{-1, 1} {
			there, ok := g.Shift(rank, i, steps)
			if !ok {
				there = none
			}
			n.Sources = append(n.Sources, there)
		}
		// What goes forward comes from the rear.
		n.Order = append(n.Order, 2*i+1, 2*i)
	}
	n.Destinations = n.Sources
	return n
}

// Edge is one of a graph: from a rank to another, with a weight.
type Edge struct{ From, To, Weight int32 }

// GatherEdges tells both ends of each edge of it. All ranks call it, each with some of the graph's
// edges. in are the edges to this rank, out those from it. Both ends have them in the order of the
// ranks that named them, so both have the edges between them in the same order.
func (c *Comm) GatherEdges(edges []Edge) (in, out []Edge, err error) {
	const size = 16
	told := make([][]byte, c.Size())
	tell := func(rank, end int32, e Edge) {
		b := told[rank]
		for _, x := range [4]int32{end, e.From, e.To, e.Weight} {
			b = binary.NativeEndian.AppendUint32(b, uint32(x))
		}
		told[rank] = b
	}
	for _, e := range edges {
		tell(e.From, 0, e)
		tell(e.To, 1, e)
	}
	heard, err := c.distribute(told)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range heard {
		for ; len(b) >= size; b = b[size:] {
			at := func(i int) int32 { return int32(binary.NativeEndian.Uint32(b[4*i:])) }
			if e := (Edge{at(1), at(2), at(3)}); at(0) == 0 {
				out = append(out, e)
			} else {
				in = append(in, e)
			}
		}
	}
	return in, out, nil
}

// distribute sends out[r] to each rank r, of any length, and returns the bytes that each rank has
// sent.
func (c *Comm) distribute(out [][]byte) ([][]byte, error) {
	const word = 8
	mine, theirs := make([]byte, word*len(out)), make([]byte, word*len(out))
	for r, b := range out {
		binary.NativeEndian.PutUint64(mine[word*r:], uint64(len(b)))
	}
	if err := c.Alltoall(mine, theirs, word).Run(); err != nil {
		return nil, err
	}
	in := make([][]byte, len(out))
	for r := range in {
		in[r] = make([]byte, binary.NativeEndian.Uint64(theirs[word*r:]))
	}
	return in, c.Alltoallv(Blocks{Parts: out}, Blocks{Parts: in}).Run()
}
