package comm

import "banyan/internal/runtime/engine"

// Neighbours are the edges of a topology at one member: the ranks that it receives from and those
// that it sends to, each in the order of the blocks of a neighbourhood collective. A rank may occur
// several times. A negative rank stands for no neighbour: nothing is exchanged with it.
//
// Where two members share several edges, the first edge that one sends along is the first that the
// other receives along. Order, if set, is the order of the sends, by index of Destinations. A
// Cartesian topology needs it: in a periodic dimension of 1 or 2 members both neighbours are the
// same, and data sent in one direction arrives from the other.
type Neighbours struct {
	Sources, Destinations []int
	Order                 []int
}

// NeighbourAllgather sends the same data to all destinations, and receives
// recv.Of(i) from source i.
func (c *Comm) NeighbourAllgather(send []byte, recv Blocks, to Neighbours) *Plan {
	p := c.plan("Neighbor_allgather")
	if err := recv.check("the receive buffer", len(to.Sources)); err != nil {
		return p.fail(err)
	}
	p.gives(engine.NoPeer, send)
	return p.neighbours(func(int) []byte { return send }, recv, to)
}

// NeighbourAlltoall sends send.Of(i) to destination i and receives recv.Of(i) from
// source i.
func (c *Comm) NeighbourAlltoall(send, recv Blocks, to Neighbours) *Plan {
	p := c.plan("Neighbor_alltoall")
	if err := send.check("the send buffer", len(to.Destinations)); err != nil {
		return p.fail(err)
	}
	if err := recv.check("the receive buffer", len(to.Sources)); err != nil {
		return p.fail(err)
	}
	p.givesBlocks(engine.NoPeer, send, len(to.Destinations))
	return p.neighbours(send.Of, recv, to)
}

// neighbours posts all receives and sends at once.
//
//	as many α as there are edges, and β for each byte
func (p *Plan) neighbours(send func(i int) []byte, recv Blocks, to Neighbours) *Plan {
	for i, from := range to.Sources {
		switch {
		case from >= p.size():
			return p.fail(rankError(from, p.size()))
		case from >= 0:
			p.receive(from, recv.Of(i))
		}
	}
	for k := range to.Destinations {
		i := k
		if to.Order != nil {
			i = to.Order[k]
		}
		switch dest := to.Destinations[i]; {
		case dest >= p.size():
			return p.fail(rankError(dest, p.size()))
		case dest >= 0:
			p.send(dest, send(i))
		}
	}
	return p
}
