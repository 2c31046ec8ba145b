package mpi_test

import (
	"errors"
	"fmt"
	"testing"

	"banyan/mpi"
)

// Each rank gets from each neighbour what that one has sent in its direction, also where a periodic
// dimension has one or two ranks, so that both neighbours are the same.
func TestNeighborsInGrids(t *testing.T) {
	for _, dims := range [][]int{{1}, {2}, {5}, {2, 2}, {3, 2}, {1, 2, 2}} {
		for _, rings := range []bool{false, true} {
			size := 1
			periodic := make([]bool, len(dims))
			for i, d := range dims {
				size, periodic[i] = size*d, rings
			}
			local(t, size+1, func(w *mpi.Comm) error {
				g, err := w.Cart(dims, periodic)
				if err != nil {
					return err
				}
				if w.Rank() == size {
					if g != nil {
						return errors.New("a rank beyond the grid is in it")
					}
					return nil
				}
				return exchangeInGrid(g, len(dims))
			})
		}
	}
}

// exchangeInGrid sends to each neighbour this rank and the direction, in all forms.
func exchangeInGrid(g *mpi.Comm, dimensions int) error {
	const unused = -7
	var send, expect, ranks, counts []int
	for d := range dimensions {
		before, after := g.Grid().Shift(d, 1)
		for side, there := range []int{before, after} {
			send = append(send, 100*g.Rank()+2*d+side)
			counts = append(counts, 1)
			if there == mpi.ProcNull {
				expect, ranks = append(expect, unused), append(ranks, unused)
			} else {
				expect, ranks = append(expect, 100*there+2*d+1-side), append(ranks, there)
			}
		}
	}
	empty := func() []int {
		b := make([]int, 2*dimensions)
		for i := range b {
			b[i] = unused
		}
		return b
	}
	parts := func(s []int) (all []mpi.Part) {
		for i := range s {
			all = append(all, mpi.PartOf(s[i:i+1]))
		}
		return all
	}
	a, av, w, gather, gatherv := empty(), empty(), empty(), empty(), empty()
	ia, iav, iw, igather, igatherv := empty(), empty(), empty(), empty(), empty()
	me := []int{g.Rank()}
	var requests []*mpi.Request
	started := func(r mpi.Request, err error) error {
		requests = append(requests, &r)
		return err
	}
	if err := errors.Join(
		started(mpi.IneighborAlltoall(g, send, ia)),
		started(mpi.IneighborAlltoallv(g, send, counts, iav, counts)),
		started(mpi.IneighborAlltoallw(g, parts(send), parts(iw))),
		started(mpi.IneighborAllgather(g, me, igather)),
		started(mpi.IneighborAllgatherv(g, me, igatherv, counts)),
		mpi.NeighborAlltoall(g, send, a),
		mpi.NeighborAlltoallv(g, send, counts, av, counts),
		mpi.NeighborAlltoallw(g, parts(send), parts(w)),
		mpi.NeighborAllgather(g, me, gather),
		mpi.NeighborAllgatherv(g, me, gatherv, counts),
		mpi.WaitAll(requests...),
	); err != nil {
		return err
	}
	for _, got := range [][]int{a, av, w, ia, iav, iw} {
		if err := want("alltoall", got, expect); err != nil {
			return err
		}
	}
	for _, got := range [][]int{gather, gatherv, igather, igatherv} {
		if err := want("allgather", got, ranks); err != nil {
			return err
		}
	}
	// The same by messages: beyond the edge nothing is sent or received.
	source, dest := g.Grid().Shift(0, 1)
	got := []int{unused}
	s, err := mpi.Sendrecv(g, me, dest, 0, got, source, 0)
	if err != nil || s.Source != source {
		return fmt.Errorf("%+v, %v; want one from %d", s, err, source)
	}
	r, err := mpi.Irecv(g, got, source, 1)
	if err != nil {
		return err
	}
	q, err := mpi.Isend(g.Persistent(), me, dest, 1)
	if err != nil {
		return err
	}
	if err := errors.Join(q.Start(), mpi.WaitAll(&r, &q)); err != nil {
		return err
	}
	if source == mpi.ProcNull {
		source = unused
	}
	return want("shifted", got, []int{source})
}

func TestGrid(t *testing.T) {
	local(t, 6, func(w *mpi.Comm) error {
		dims, err := mpi.Dims(6, 0, 0)
		if err != nil {
			return err
		}
		c, err := w.Cart(dims, []bool{false, true})
		if err != nil {
			return err
		}
		g := c.Grid()
		for r := range 6 {
			if at := g.Coords(r); g.Rank(at...) != r || at[0] != r/2 || at[1] != r%2 {
				return fmt.Errorf("rank %d is at %v", r, at)
			}
		}
		if g.Coords(6) != nil || g.Coords(-1) != nil || g.Rank(3, 0) != mpi.ProcNull || g.Rank(0, -1) != 1 || g.Rank(1) != mpi.ProcNull {
			return errors.New("what isn't in the grid has a place")
		}
		if source, dest := g.Shift(2, 1); source != mpi.ProcNull || dest != mpi.ProcNull {
			return errors.New("a dimension too many")
		}
		if err := errors.Join(want("Dims", g.Dims(), []int{3, 2}), want("Periodic", g.Periodic(), []bool{false, true})); err != nil {
			return err
		}
		row, err := c.SubCart(false, true)
		if err != nil {
			return err
		}
		members := make([]int, 2)
		if err := mpi.Allgather(row, []int{c.Rank()}, members); err != nil {
			return err
		}
		first := c.Rank() / 2 * 2
		if err := want("row", members, []int{first, first + 1}); err != nil {
			return err
		}
		if _, err := row.SubCart(true, true); !errors.Is(err, mpi.ErrTopology) {
			return fmt.Errorf("two dimensions of one: %v", err)
		}
		for _, bad := range [][]int{{4, 2}, {0}, {-1, -1}, {1 << 62, 4}} {
			if _, err := w.Cart(bad, nil); !errors.Is(err, mpi.ErrSize) {
				return fmt.Errorf("Cart(%v): %v", bad, err)
			}
		}
		if _, err := w.Cart([]int{6}, []bool{true, true}); !errors.Is(err, mpi.ErrSize) {
			return fmt.Errorf("two values of periodic: %v", err)
		}
		for _, bad := range [][]int{{0, 4}, {}, {5}} {
			if _, err := mpi.Dims(6, bad...); !errors.Is(err, mpi.ErrSize) {
				return fmt.Errorf("Dims(6, %v): %v", bad, err)
			}
		}
		return nil
	})
}

// In a graph each rank has the neighbours that it names, or that any rank has named.
func TestGraphs(t *testing.T) {
	local(t, 4, func(w *mpi.Comm) error {
		me := w.Rank()
		// A star whose centre hears from each leaf twice.
		var sources, destinations []int
		if me == 0 {
			sources = []int{3, 1, 2, 2, 1, 3}
			destinations = []int{1, 2, 3}
		} else {
			sources, destinations = []int{0}, []int{0, 0}
		}
		star, err := w.Graph(sources, destinations)
		if err != nil {
			return err
		}
		send, recv := make([]int, len(destinations)), make([]int, len(sources))
		for i := range send {
			send[i] = 10*me + i
		}
		if err := mpi.NeighborAlltoall(star, send, recv); err != nil {
			return err
		}
		expect := []int{30, 10, 20, 21, 11, 31}
		if me > 0 {
			expect = []int{me - 1}
		}
		if err := want("star", recv, expect); err != nil {
			return err
		}
		// A ring that rank 2 knows.
		var edges []mpi.Edge
		if me == 2 {
			edges = []mpi.Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3}, {From: 3, To: 0}}
		}
		ring, err := w.GraphOf(edges...)
		if err != nil {
			return err
		}
		in, out := ring.Neighbors()
		if err := errors.Join(want("sources", in, []int{(me + 3) % 4}), want("destinations", out, []int{(me + 1) % 4})); err != nil {
			return err
		}
		got := []int{-1}
		if err := errors.Join(mpi.NeighborAllgather(ring, []int{me}, got), want("ring", got, in)); err != nil {
			return err
		}
		return graphErrors(w)
	})
}

// graphErrors has ranks disagree about edges, and name ranks that don't exist.
func graphErrors(w *mpi.Comm) error {
	var claim []int
	if w.Rank() == 1 {
		claim = []int{3}
	}
	if _, err := w.Graph(nil, claim); !errors.Is(err, mpi.ErrMismatch) {
		return fmt.Errorf("an edge that its other end doesn't name: %v", err)
	}
	if _, err := w.Graph([]int{4}, nil); !errors.Is(err, mpi.ErrRank) {
		return fmt.Errorf("an edge from nowhere: %v", err)
	}
	if _, err := w.GraphOf(mpi.Edge{From: 0, To: -1}); !errors.Is(err, mpi.ErrRank) {
		return fmt.Errorf("an edge to nowhere: %v", err)
	}
	if err := mpi.NeighborAllgather(w, []int{1}, nil); !errors.Is(err, mpi.ErrTopology) {
		return fmt.Errorf("without a topology: %v", err)
	}
	if s, d := w.Neighbors(); s != nil || d != nil || w.Grid() != nil {
		return errors.New("a communicator without a topology has neighbours")
	}
	c, err := w.Cart([]int{4}, nil)
	if err != nil {
		return err
	}
	if err := mpi.NeighborAlltoall(c, make([]int, 3), make([]int, 2)); !errors.Is(err, mpi.ErrSize) {
		return fmt.Errorf("three elements for two neighbours: %v", err)
	}
	return nil
}
