package main

import "banyan/mpi"

// Tags of the messages between neighbours.
const (
	tagRows   = 0 // which elements the sender needs
	tagValues = 1 // their values
)

// halo exchanges elements of a vector: a rank receives those to which its rows refer and which
// other ranks own.
type halo struct {
	world  *mpi.Comm
	byName bool       // receive from each neighbour in turn, not from any source
	count  int        // own elements; the halo follows them in a local vector
	sends  []outgoing // by rank
	from   []segment  // by rank: the segment for its elements; empty for most
	peers  []int      // ranks that send us something
	in     []float64  // a buffer for the longest segment
	sums   []float64
}

// outgoing is what one neighbour needs.
type outgoing struct {
	rank   int
	rows   []int32 // in the local vector
	values []float64
}

type segment struct{ begin, end int }

// newHalo makes a halo: every rank tells the others which of their elements it needs.
func newHalo(world *mpi.Comm, a *block, byName bool) (*halo, error) {
	ranks := world.Size()
	h := &halo{world: world, byName: byName, count: a.count, from: make([]segment, ranks)}
	firsts, counts := blocks(a.total, ranks)
	needed, wanted := make([]int64, ranks), make([]int64, ranks)
	var pending []*mpi.Request
	for rank := range ranks {
		begin, end := a.needs(firsts[rank], counts[rank])
		h.from[rank] = segment{begin, end}
		if begin == end {
			continue
		}
		h.peers = append(h.peers, rank)
		needed[rank] = int64(end - begin)
		h.in = make([]float64, max(len(h.in), end-begin))
		request, err := mpi.Isend(world, a.halo[begin:end], rank, tagRows)
		if err != nil {
			return nil, err
		}
		pending = append(pending, &request)
	}
	if err := mpi.Alltoall(world, needed, wanted); err != nil {
		return nil, err
	}
	for rank, n := range wanted {
		if n == 0 {
			continue
		}
		out := outgoing{rank, make([]int32, n), make([]float64, n)}
		if _, err := mpi.Recv(world, out.rows, rank, tagRows); err != nil {
			return nil, err
		}
		for i := range out.rows {
			out.rows[i] -= int32(a.first)
		}
		h.sends = append(h.sends, out)
	}
	return h, mpi.WaitAll(pending...)
}

// exchange implements others. It receives the neighbours' values in the order in which they come,
// unless byName is set. It stores each neighbour's values in their own segment, so the order has no
// effect.
//
// One tag serves all exchanges: because of the sum between two exchanges, no rank begins one before
// all ranks have ended the last.
func (h *halo) exchange(vector []float64) error {
	pending := make([]*mpi.Request, 0, len(h.sends))
	for _, out := range h.sends {
		for i, row := range out.rows {
			out.values[i] = vector[row]
		}
		request, err := mpi.Isend(h.world, out.values, out.rank, tagValues)
		if err != nil {
			return err
		}
		pending = append(pending, &request)
	}
	for _, source := range h.peers {
		if !h.byName {
			source = mpi.AnySource
		}
		status, err := mpi.Recv(h.world, h.in, source, tagValues)
		if err != nil {
			return err
		}
		from := h.from[status.Source]
		copy(vector[h.count+from.begin:h.count+from.end], h.in)
	}
	return mpi.WaitAll(pending...)
}

// sum implements others.
func (h *halo) sum(values []float64) error {
	h.sums = append(h.sums[:0], values...)
	return mpi.Allreduce(h.world, h.sums, values, mpi.Sum)
}
