package main

import "testing"

func TestDecompose(t *testing.T) {
	for ranks, want := range map[int]point{1: {1, 1, 1}, 2: {1, 1, 2}, 4: {1, 2, 2}, 6: {1, 2, 3}, 7: {1, 1, 7}, 8: {2, 2, 2}, 12: {2, 2, 3}, 27: {3, 3, 3}} {
		if d := decompose(ranks); d.ranks != want {
			t.Errorf("%d ranks: %v, want %v", ranks, d.ranks, want)
		}
	}
	for ranks := 1; ranks < 50; ranks++ {
		d := decompose(ranks)
		for rank := range ranks {
			if got := d.rank(d.at(rank)); got != rank {
				t.Fatalf("rank %d of %d: %v is rank %d", rank, ranks, d.at(rank), got)
			}
		}
		for _, outside := range []point{{-1, 0, 0}, d.ranks, {0, 0, d.ranks[2]}} {
			if got := d.rank(outside); got != -1 {
				t.Fatalf("%d ranks: %v is rank %d", ranks, outside, got)
			}
		}
	}
}

// Blocks cover each grid once. The owner of a coarse point also owns the same point of the finer
// grid.
func TestBlocks(t *testing.T) {
	for ranks := 1; ranks <= 12; ranks++ {
		d := decompose(ranks)
		owners := func(coarser int) map[point]int {
			owner := map[point]int{}
			for rank := range ranks {
				b := d.block(rank, 31, coarser)
				for x := range b.count[0] {
					for y := range b.count[1] {
						for z := range b.count[2] {
							p := point{b.first[0] + x, b.first[1] + y, b.first[2] + z}
							if other, taken := owner[p]; taken {
								t.Fatalf("%d ranks, coarser %d: %v is rank %d's and rank %d's", ranks, coarser, p, other, rank)
							}
							owner[p] = rank
						}
					}
				}
			}
			return owner
		}
		fine := owners(0)
		for coarser := 0; coarser < 4; coarser++ {
			here := owners(coarser)
			if n := 31 >> coarser; len(here) != n*n*n {
				t.Fatalf("%d ranks, coarser %d: %d points, want %d", ranks, coarser, len(here), n*n*n)
			}
			for p, owner := range here {
				f := p
				for range coarser {
					f = point{2*f[0] + 1, 2*f[1] + 1, 2*f[2] + 1}
				}
				if fine[f] != owner {
					t.Fatalf("%d ranks, coarser %d: %v is rank %d's, the fine point %v rank %d's", ranks, coarser, p, owner, f, fine[f])
				}
			}
		}
	}
}
