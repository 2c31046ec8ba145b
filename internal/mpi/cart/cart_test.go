package cart

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBalance(t *testing.T) {
	for _, tc := range []struct {
		n          int
		dims, want []int
	}{
		{6, []int{0, 0}, []int{3, 2}},
		{7, []int{0, 0}, []int{7, 1}},
		{12, []int{0, 0, 0}, []int{3, 2, 2}},
		{64, []int{0, 0, 0}, []int{4, 4, 4}},
		{24, []int{0, 2, 0}, []int{4, 2, 3}},
		{1, []int{0, 0}, []int{1, 1}},
		{6, []int{2, 3}, []int{2, 3}},
		{1000003, []int{0, 0}, []int{1000003, 1}},
		{1 << 20, []int{0, 0, 0, 0}, []int{32, 32, 32, 32}},
	} {
		got := slices.Clone(tc.dims)
		if err := Balance(tc.n, got); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%d in %v: %v, %v; want %v", tc.n, tc.dims, got, err, tc.want)
		}
	}
	for _, dims := range [][]int{{4, 0}, {2, 2}, {-1, 0}} {
		if err := Balance(6, dims); !errors.Is(err, ErrDims) {
			t.Errorf("6 in %v: %v", dims, err)
		}
	}
}

// No other factors have a smaller largest one, and the product is n.
func TestBalanceIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 2000).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
		dims := make([]int, k)
		if err := Balance(n, dims); err != nil {
			t.Fatal(err)
		}
		if (Grid{Dims: dims}).Size() != n || !slices.IsSortedFunc(dims, func(a, b int) int { return b - a }) {
			t.Fatal(dims)
		}
		if smallest(n, k) != dims[0] {
			t.Fatalf("%v, but the largest could be %d", dims, smallest(n, k))
		}
	})
}

// smallest is the least possible largest factor. It tries all.
func smallest(n, k int) int {
	if k == 1 {
		return n
	}
	best := n
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			best = min(best, max(d, smallest(n/d, k-1)))
		}
	}
	return best
}

func TestCoordinates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 4).Draw(t, "k")
		g := Grid{Dims: rapid.SliceOfN(rapid.IntRange(1, 5), k, k).Draw(t, "dims"), Periodic: rapid.SliceOfN(rapid.Bool(), k, k).Draw(t, "periodic")}
		for rank := range g.Size() {
			c := g.Coordinates(rank)
			if r, ok := g.Rank(c); !ok || r != rank {
				t.Fatalf("%d has %v has %d", rank, c, r)
			}
			for i, d := range g.Dims {
				steps := rapid.IntRange(-1<<31, 1<<31-1).Draw(t, "steps")
				there, ok := g.Shift(rank, i, steps)
				if inside := c[i]+steps >= 0 && c[i]+steps < d; ok != (inside || g.Periodic[i]) {
					t.Fatalf("%v by %d in dimension %d: %v", c, steps, i, ok)
				}
				if ok {
					if back, _ := g.Shift(there, i, -steps); back != rank {
						t.Fatalf("%v by %d and back is %d", c, steps, back)
					}
				}
			}
		}
	})
}

func TestSub(t *testing.T) {
	g := Grid{Dims: []int{2, 3, 4}, Periodic: []bool{false, true, false}}
	keep := []bool{true, false, true}
	members := make(map[int]int)
	for rank := range g.Size() {
		sub, number := g.Sub(rank, keep)
		if !slices.Equal(sub.Dims, []int{2, 4}) || !slices.Equal(sub.Periodic, []bool{false, false}) {
			t.Fatal(sub)
		}
		c := g.Coordinates(rank)
		if r, _ := sub.Rank([]int{c[0], c[2]}); r != members[number] { // in the order of ranks
			t.Fatalf("rank %d is %d in its grid, not %d", rank, members[number], r)
		}
		members[number]++
	}
	if len(members) != 3 {
		t.Error(members)
	}
}
