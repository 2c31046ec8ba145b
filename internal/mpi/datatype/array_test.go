package datatype

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cells are the positions in memory of those elements of an array for which mine is true, in
// the order of memory. mine gets an element's index in each dimension.
func cells(sizes []int64, order Order, mine func(index []int64) bool) (found []int64) {
	total := int64(1)
	for _, s := range sizes {
		total *= s
	}
	index := make([]int64, len(sizes))
	for at := range total {
		rest := at
		for i := range sizes {
			d := order.dimension(i, len(sizes))
			index[d] = rest % sizes[d]
			rest /= sizes[d]
		}
		if mine(index) {
			found = append(found, at)
		}
	}
	return found
}

// checkCells expects the type to have those elements of an array of old.
func checkCells(t *rapid.T, typ *Type, old drawn, total int64, want []int64) {
	n := naive{marked: true, ub: total * old.n.extent()}
	for _, at := range want {
		n.at(naive{entries: old.n.entries}, at*old.n.extent())
	}
	lb, extent := typ.Extent()
	if lb != 0 || extent != n.ub || typ.elements != int64(len(n.entries)) {
		t.Fatalf("bounds %d, %d and %d elements, want 0, %d, %d", lb, lb+extent, typ.elements, n.ub, len(n.entries))
	}
	_, buf := memory(typ, 2, 3)
	msg := make([]byte, 2*n.size())
	if typ.Pack(msg, buf, 2, 0); !slices.Equal(msg, n.pack(buf, 2)) {
		t.Fatal("other elements are packed")
	}
}

// drawArray draws an array that the tests' memory holds twice.
func drawArray(t *rapid.T) (old drawn, sizes []int64, order Order, total int64) {
	old = draw(t, 1)
	sizes = rapid.SliceOfN(rapid.Int64Range(1, 6), 1, 4).Draw(t, "sizes")
	total = 1
	for _, s := range sizes {
		total *= s
	}
	if _, length := old.t.Span(2 * total); len(old.n.entries) == 0 || length > arena/2 {
		old = draw(t, 0)
	}
	return old, sizes, rapid.SampledFrom([]Order{OrderC, OrderFortran}).Draw(t, "order"), total
}

func TestSubarray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, sizes, order, total := drawArray(t)
		subsizes, starts := make([]int64, len(sizes)), make([]int64, len(sizes))
		for i, s := range sizes {
			subsizes[i] = rapid.Int64Range(1, s).Draw(t, "subsize")
			starts[i] = rapid.Int64Range(0, s-subsizes[i]).Draw(t, "start")
		}
		typ, err := Subarray(sizes, subsizes, starts, order, old.t)
		if err != nil {
			t.Fatal(err)
		}
		checkCells(t, typ, old, total, cells(sizes, order, func(index []int64) bool {
			for d, i := range index {
				if i < starts[d] || i >= starts[d]+subsizes[d] {
					return false
				}
			}
			return true
		}))
	})
}

// TestDarray distributes arrays, and checks for each element that the right rank has it. The
// ranks' parts make up the array.
func TestDarray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, sizes, order, total := drawArray(t)
		g := Grid{Size: 1, Sizes: sizes, Order: order}
		for _, s := range sizes {
			d := rapid.SampledFrom([]Distribution{DistributeNone, DistributeBlock, DistributeCyclic}).Draw(t, "distribution")
			processes := int64(1)
			if d != DistributeNone {
				processes = rapid.Int64Range(1, 3).Draw(t, "processes")
			}
			arg := rapid.Int64Range(1, 4).Draw(t, "argument")
			if d == DistributeBlock {
				arg = max(arg, (s+processes-1)/processes)
			}
			if rapid.Bool().Draw(t, "default") {
				arg = DefaultArgument
			}
			g.Distributions = append(g.Distributions, d)
			g.Arguments = append(g.Arguments, arg)
			g.Processes = append(g.Processes, processes)
			g.Size *= processes
		}
		var elements int64
		for g.Rank = range g.Size {
			typ, err := Darray(g, old.t)
			if err != nil {
				t.Fatal(err)
			}
			elements += typ.elements
			checkCells(t, typ, old, total, cells(sizes, order, func(index []int64) bool {
				owner := int64(0)
				for d, i := range index {
					owner = owner*g.Processes[d] + i/g.blockOf(d)%g.Processes[d]
				}
				return owner == g.Rank
			}))
		}
		if elements != total*old.t.elements {
			t.Fatalf("all ranks have %d elements, want %d", elements, total*old.t.elements)
		}
	})
}

func TestArraysRefused(t *testing.T) {
	i := Predefined(0x209)
	for name, err := range map[string]error{
		"order":   second(Subarray([]int64{4}, []int64{2}, []int64{1}, 7, i)),
		"none":    second(Subarray(nil, nil, nil, OrderC, i)),
		"size":    second(Subarray([]int64{0}, []int64{0}, []int64{0}, OrderC, i)),
		"subsize": second(Subarray([]int64{4}, []int64{0}, []int64{0}, OrderC, i)),
		"start":   second(Subarray([]int64{4}, []int64{2}, []int64{3}, OrderC, i)),
		"rank": second(Darray(Grid{Size: 2, Rank: 2, Sizes: []int64{4}, Distributions: []Distribution{DistributeBlock},
			Arguments: []int64{DefaultArgument}, Processes: []int64{2}, Order: OrderC}, i)),
		"grid": second(Darray(Grid{Size: 2, Sizes: []int64{4}, Distributions: []Distribution{DistributeBlock},
			Arguments: []int64{DefaultArgument}, Processes: []int64{3}, Order: OrderC}, i)),
		"few": second(Darray(Grid{Size: 3, Sizes: []int64{4}, Distributions: []Distribution{DistributeBlock},
			Arguments: []int64{DefaultArgument}, Processes: []int64{2}, Order: OrderC}, i)),
		"block": second(Darray(Grid{Size: 2, Sizes: []int64{4}, Distributions: []Distribution{DistributeBlock},
			Arguments: []int64{1}, Processes: []int64{2}, Order: OrderC}, i)),
		"undistributed": second(Darray(Grid{Size: 2, Sizes: []int64{4}, Distributions: []Distribution{DistributeNone},
			Arguments: []int64{1}, Processes: []int64{2}, Order: OrderC}, i)),
	} {
		if !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ *Type, err error) error { return err }
