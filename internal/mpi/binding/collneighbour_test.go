package binding

import (
	"fmt"
	"slices"
	"testing"

	"banyan/internal/mpi/comm"
)

// edges is a topology that a test chooses.
type edges comm.Neighbours

func (e edges) neighbours() comm.Neighbours { return comm.Neighbours(e) }

// line is the neighbours in a Cartesian topology of one dimension: down, then up, and around
// the end if it is periodic. Up is sent first: in a ring of two, a first message sent down
// would be received as the one from below, and it must be the one from above.
func line(n, me int, periodic bool) edges {
	down, up := me-1, me+1
	if periodic {
		down, up = (down+n)%n, up%n
	} else if up == n {
		up = ProcNull
	}
	if down < 0 {
		down = ProcNull
	}
	return edges{Sources: []int{down, up}, Destinations: []int{down, up}, Order: []int{1, 0}}
}

// Halos: each rank sends each neighbour its own block, along a line and around a ring. In a
// ring of two members both neighbours are the same rank; a ring of one has itself.
func TestNeighbourhoods(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		for _, periodic := range []bool{false, true} {
			to := line(n, me, periodic)
			p.world.Load().topology = to
			name := fmt.Sprintf("%d ranks, periodic %v, %s to %s", n, periodic, out.name, in.name)
			// Block i goes to neighbour i. A block from below was sent up, and the other way
			// round.
			send := out.memory(given(me, 0, 2*block), 2*block)
			recv := in.memory(nil, 2*block)
			fresh := func() { copy(recv, in.memory(nil, 2*block)) }
			var each, same []int32
			for i, from := range to.Sources {
				if from < 0 {
					each = append(each, gap, gap, gap)
					same = append(same, gap, gap, gap)
					continue
				}
				each = append(each, given(from, (1-i)*block, block)...)
				same = append(same, given(from, 0, block)...)
			}
			exchanged := func(how string) { wants(t, how, in.values(t, recv, 2*block), each) }
			gathered := func(how string) { wants(t, how, in.values(t, recv, 2*block), same) }
			allVariants(t, p, "neighbor_alltoall, "+name, fresh, exchanged, func(v Variant) Code {
				return p.NeighborAlltoall(v, ints(send), block, out.datatype, ints(recv), block, in.datatype, CommWorld)
			})
			counts, displs := small(block, block), small(0, block)
			allVariants(t, p, "neighbor_alltoallv, "+name, fresh, exchanged, func(v Variant) Code {
				return p.NeighborAlltoallv(v, ints(send), counts, displs, out.datatype, ints(recv), counts, displs, in.datatype, CommWorld)
			})
			outAt, inAt := []int64{0, int64(4 * block * out.step)}, []int64{0, int64(4 * block * in.step)}
			outTypes, inTypes := slices.Repeat([]Datatype{out.datatype}, 2), slices.Repeat([]Datatype{in.datatype}, 2)
			allVariants(t, p, "neighbor_alltoallw, "+name, fresh, exchanged, func(v Variant) Code {
				return p.NeighborAlltoallw(v, ints(send), counts, at(outAt), at(outTypes), ints(recv), counts, at(inAt), at(inTypes), CommWorld)
			})
			allVariants(t, p, "neighbor_allgather, "+name, fresh, gathered, func(v Variant) Code {
				return p.NeighborAllgather(v, ints(send), block, out.datatype, ints(recv), block, in.datatype, CommWorld)
			})
			allVariants(t, p, "neighbor_allgatherv, "+name, fresh, gathered, func(v Variant) Code {
				return p.NeighborAllgatherv(v, ints(send), block, out.datatype, ints(recv), counts, displs, in.datatype, CommWorld)
			})
		}
	})
}
