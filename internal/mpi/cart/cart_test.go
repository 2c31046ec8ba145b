package cart

import (
	"errors"
	"slices"
	"testing"
	"time"

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
		{7488, []int{0, 0, 0}, []int{26, 18, 16}},             // not 24, 24, 13
		{5040, []int{0, 0, 0}, []int{21, 16, 15}},             // as close: 20, 18, 14
		{98784, []int{0, 0, 0, 0, 0}, []int{14, 14, 9, 8, 7}}, // as close: 14, 12, 12, 7, 7
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

// No other factors are closer to each other, those that are as close don't have larger small
// ones, and the product is n.
func TestBalanceIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 20000).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
		dims := make([]int, k)
		if err := Balance(n, dims); err != nil {
			t.Fatal(err)
		}
		if (Grid{Dims: dims}).Size() != n || !slices.IsSortedFunc(dims, func(a, b int) int { return b - a }) {
			t.Fatal(dims)
		}
		ascending := func(f []int) []int { f = slices.Clone(f); slices.Reverse(f); return f }
		products(n, k, n, func(f []int) {
			d, best := f[0]-f[k-1], dims[0]-dims[k-1]
			if d < best || d == best && slices.Compare(ascending(f), ascending(dims)) > 0 {
				t.Fatalf("%v, and not %v", dims, f)
			}
		})
	})
}

// products calls do with all descending products of k factors, at most limit each, that are n.
func products(n, k, limit int, do func([]int)) {
	if k == 0 {
		if n == 1 {
			do(nil)
		}
		return
	}
	for d := 1; d <= min(n, limit); d++ {
		if n%d == 0 {
			products(n/d, k-1, d, func(rest []int) { do(append([]int{d}, rest...)) })
		}
	}
}

// The search ends soon for the worst numbers, too: those with the most divisors, and large primes.
func TestBalanceIsQuick(t *testing.T) {
	for _, n := range []int{735134400, 1<<31 - 1, 1 << 30, 1396755360, 2 * 1073741789} {
		for k := 1; k <= 12; k++ {
			dims := make([]int, k)
			begun := time.Now()
			if err := Balance(n, dims); err != nil || (Grid{Dims: dims}).Size() != n {
				t.Errorf("%d in %d: %v, %v", n, k, dims, err)
			}
			t.Logf("%d in %d: %v, %v", n, k, dims, time.Since(begun))
		}
	}
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
