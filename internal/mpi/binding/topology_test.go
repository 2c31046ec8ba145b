package binding

import (
	"slices"
	"testing"
	"unsafe"
)

// A 2 × 3 grid out of 7 ranks, with one periodic dimension, and all queries of it.
func TestCartesian(t *testing.T) {
	ranks(t, 7, func(t *testing.T, p *Process) {
		check := func(code Code) {
			t.Helper()
			if code != Success {
				t.Errorf("code %d", code)
			}
		}
		dims, periods := []int32{2, 3}, []int32{0, 1}
		var cart, kind = CommNull, int32(0)
		check(p.CartCreate(CommWorld, 2, at(dims), at(periods), 1, &cart))
		var rank int32
		check(p.CommRank(CommWorld, &rank))
		if rank == 6 {
			if cart != CommNull {
				t.Error("rank 6 is in a grid of 6")
			}
			return
		}
		check(p.TopoTest(cart, &kind))
		gotDims, gotPeriods, coords := make([]int32, 2), make([]int32, 2), make([]int32, 2)
		var n int32
		check(p.CartdimGet(cart, &n))
		check(p.CartGet(cart, 2, at(gotDims), at(gotPeriods), at(coords)))
		if kind != Cart || n != 2 || !slices.Equal(gotDims, dims) || !slices.Equal(gotPeriods, periods) || !slices.Equal(coords, []int32{rank / 3, rank % 3}) {
			t.Error(kind, n, gotDims, gotPeriods, coords)
		}
		var from, to int32
		check(p.CartShift(cart, 0, 1, &from, &to))
		if want := [2]int32{ProcNull, rank + 3}; rank < 3 && [2]int32{from, to} != want {
			t.Error(from, to)
		}
		check(p.CartShift(cart, 1, -1, &from, &to))
		if from != rank/3*3+(rank+1)%3 || to != rank/3*3+(rank+2)%3 {
			t.Errorf("rank %d: from %d to %d", rank, from, to)
		}
		check(p.CartRank(cart, at([]int32{1, -1}), &n))
		if n != 5 {
			t.Error(n)
		}
		check(p.CartCoords(cart, 4, 2, at(coords)))
		if !slices.Equal(coords, []int32{1, 1}) {
			t.Error(coords)
		}
		var row Comm
		check(p.CartSub(cart, at([]int32{0, 1}), &row))
		var size, inRow int32
		check(p.CommSize(row, &size))
		check(p.CommRank(row, &inRow))
		check(p.CartShift(row, 0, 1, &from, &to))
		if size != 3 || inRow != rank%3 || to != (inRow+1)%3 {
			t.Error(size, inRow, to)
		}

		// Neighbours: before and after in each dimension.
		in := []int32{-7, -7, -7, -7}
		check(p.NeighborAllgather(Blocking("MPI_Neighbor_allgather"), unsafe.Pointer(&rank), 1, TypeInt32T, unsafe.Pointer(at(in)), 1, TypeInt32T, cart))
		want := []int32{-7, -7, rank/3*3 + (rank+2)%3, rank/3*3 + (rank+1)%3}
		if rank < 3 {
			want[1] = rank + 3
		} else {
			want[0] = rank - 3
		}
		if !slices.Equal(in, want) {
			t.Errorf("rank %d: %v, want %v", rank, in, want)
		}
		check(p.CommSetErrhandler(cart, ErrorsReturn))
		for what, code := range map[string]Code{
			"a rank outside":    p.CartCoords(cart, 6, 2, at(coords)),
			"too little room":   p.CartGet(cart, 1, at(gotDims), at(gotPeriods), at(coords)),
			"outside the grid":  p.CartRank(cart, at([]int32{2, 0}), &n),
			"a third direction": p.CartShift(cart, 2, 1, &from, &to),
			"no graph":          p.GraphdimsGet(cart, &n, &n),
		} {
			if code == Success {
				t.Errorf("%s is no error", what)
			}
		}
		check(p.CommFree(&row))
		check(p.CommFree(&cart))
	})
}

// In a periodic dimension of two ranks, a block that is sent forward arrives from the rear.
func TestCartesianOfTwo(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		ranks(t, n, func(t *testing.T, p *Process) {
			var cart Comm
			var rank int32
			p.CartCreate(CommWorld, 1, at([]int32{int32(n)}), at([]int32{1}), 0, &cart)
			p.CommRank(cart, &rank)
			out, in := []int32{10*rank + 1, 10*rank + 2}, make([]int32, 2) // backward, forward
			if code := p.NeighborAlltoall(Blocking("MPI_Neighbor_alltoall"), unsafe.Pointer(at(out)), 1, TypeInt32T, unsafe.Pointer(at(in)), 1, TypeInt32T, cart); code != Success {
				t.Error(code)
			}
			size := int32(n)
			if want := []int32{10*((rank+size-1)%size) + 2, 10*((rank+1)%size) + 1}; !slices.Equal(in, want) {
				t.Errorf("rank %d of %d: %v, want %v", rank, n, in, want)
			}
			p.CommFree(&cart)
		})
	}
}

func TestGraph(t *testing.T) {
	ranks(t, 4, func(t *testing.T, p *Process) {
		// 0: 1 3; 1: 0; 2: 3; 3: 0 2
		ends, edges := []int32{2, 3, 4, 6}, []int32{1, 3, 0, 3, 0, 2}
		var g Comm
		if code := p.GraphCreate(CommWorld, 4, at(ends), at(edges), 0, &g); code != Success {
			t.Fatal(code)
		}
		var kind, nodes, count, n, rank int32
		p.TopoTest(g, &kind)
		p.GraphdimsGet(g, &nodes, &count)
		gotEnds, gotEdges := make([]int32, 4), make([]int32, 6)
		p.GraphGet(g, 4, 6, at(gotEnds), at(gotEdges))
		p.GraphNeighborsCount(g, 3, &n)
		of := make([]int32, 2)
		p.GraphNeighbors(g, 3, 2, at(of))
		if kind != Graph || nodes != 4 || count != 6 || !slices.Equal(gotEnds, ends) || !slices.Equal(gotEdges, edges) || n != 2 || !slices.Equal(of, []int32{0, 2}) {
			t.Error(kind, nodes, count, gotEnds, gotEdges, n, of)
		}
		p.CommRank(g, &rank)
		in := []int32{-1, -1}
		if code := p.NeighborAllgather(Blocking("MPI_Neighbor_allgather"), unsafe.Pointer(&rank), 1, TypeInt32T, unsafe.Pointer(at(in)), 1, TypeInt32T, g); code != Success {
			t.Error(code)
		}
		if want := [][]int32{{1, 3}, {0, -1}, {3, -1}, {0, 2}}[rank]; !slices.Equal(in, want) {
			t.Errorf("rank %d: %v, want %v", rank, in, want)
		}
		p.CommSetErrhandler(CommWorld, ErrorsReturn)
		var bad Comm
		if p.GraphCreate(CommWorld, 5, at(ends), at(edges), 0, &bad) == Success {
			t.Error("5 nodes for 4 ranks are no error")
		}
		if p.GraphCreate(CommWorld, 2, at([]int32{1, 0}), at(edges), 0, &bad) == Success {
			t.Error("an index that descends is no error")
		}
		if p.GraphCreate(CommWorld, 1, at([]int32{1}), at([]int32{2}), 0, &bad) == Success {
			t.Error("an edge to nowhere is no error")
		}
		p.CommFree(&g)
	})
}

// A ring with weights. Each rank names the edges of the rank before it, or its own edges: both
// give the same topology.
func TestDistGraph(t *testing.T) {
	const size = 5
	ranks(t, size, func(t *testing.T, p *Process) {
		var rank int32
		p.CommRank(CommWorld, &rank)
		before, after := (rank+size-1)%size, (rank+1)%size
		check := func(g Comm, weighted int32) {
			t.Helper()
			var kind, in, out, w int32
			p.TopoTest(g, &kind)
			p.DistGraphNeighborsCount(g, &in, &out, &w)
			sources, sw, dests, dw := []int32{-1}, []int32{-1}, []int32{-1}, []int32{-1}
			p.DistGraphNeighbors(g, 1, at(sources), at(sw), 1, at(dests), at(dw))
			if kind != DistGraph || in != 1 || out != 1 || w != weighted || sources[0] != before || dests[0] != after {
				t.Error(kind, in, out, w, sources, dests)
			}
			if weighted == 1 && (sw[0] != 100+before || dw[0] != 100+rank) {
				t.Error(sw, dw)
			}
			got := int32(-1)
			if code := p.NeighborAlltoall(Blocking("MPI_Neighbor_alltoall"), unsafe.Pointer(&rank), 1, TypeInt32T, unsafe.Pointer(&got), 1, TypeInt32T, g); code != Success || got != before {
				t.Error(code, got)
			}
			p.CommFree(&g)
		}
		var g Comm
		if code := p.DistGraphCreate(CommWorld, 1, &before, at([]int32{1}), &rank, at([]int32{100 + before}), InfoNull, 0, &g); code != Success {
			t.Fatal(code)
		}
		check(g, 1)
		if code := p.DistGraphCreate(CommWorld, 1, &before, at([]int32{1}), &rank, Unweighted, InfoNull, 0, &g); code != Success {
			t.Fatal(code)
		}
		check(g, 0)
		if code := p.DistGraphCreateAdjacent(CommWorld, 1, &before, at([]int32{100 + before}), 1, &after, at([]int32{100 + rank}), InfoNull, 0, &g); code != Success {
			t.Fatal(code)
		}
		check(g, 1)
	})
}

func TestDimsCreate(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		dims := []int32{0, 2, 0}
		if code := p.DimsCreate(12, 3, at(dims)); code != Success || !slices.Equal(dims, []int32{3, 2, 2}) {
			t.Error(code, dims)
		}
		p.CommSetErrhandler(CommSelf, ErrorsReturn)
		p.CommSetErrhandler(CommWorld, ErrorsReturn)
		if code := p.DimsCreate(7, 2, at([]int32{2, 0})); code != ErrDims {
			t.Error(code)
		}
	})
}

// A topology that can't be made leaves MPI_COMM_NULL, not what was there.
func TestTopologyFails(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "errhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		made := Comm(12345)
		if code := p.CartCreate(CommWorld, 1, at([]int32{7}), at([]int32{0}), 0, &made); code == Success || made != CommNull {
			t.Errorf("a grid of 7: %d, %#x", code, made)
		}
		made = 12345
		if code := p.GraphCreate(CommWorld, 1, at([]int32{-1}), at([]int32{0}), 0, &made); code == Success || made != CommNull {
			t.Errorf("a graph with a negative index: %d, %#x", code, made)
		}
	})
}
