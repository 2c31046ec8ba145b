package main

import (
	"fmt"
	"testing"

	"banyan/mpi"
)

// TestExchange fills arrays with the number of each point and checks these numbers in all halos, on
// all grids. It does so several times in a row, and nothing between synchronises the ranks.
func TestExchange(t *testing.T) {
	const n = 15
	number := func(l *level, x, y, z int) float64 {
		value := 0.0
		for i, at := range []int{x, y, z} {
			at += l.first[i]
			if at < 0 || at >= l.n {
				return 0 // the boundary
			}
			value = value*100 + float64(at+1)
		}
		return value
	}
	for _, ranks := range []int{1, 2, 4, 8, 12, 27} {
		for _, anySource := range []bool{false, true} {
			err := mpi.Local(ranks, func(world *mpi.Comm) error {
				top, err := newHierarchy(newTeam(world, anySource), n)
				if err != nil {
					return err
				}
				for round := 1; round <= 3; round++ {
					for l := top; l != nil && l.gather == nil; l = l.next {
						l.rows(func(x, y, index int) {
							for z := range l.count[2] {
								l.u[index+z] = number(l, x, y, z) * float64(round)
							}
						})
						if err := l.exchange(l.u); err != nil {
							return err
						}
						for x := -1; x <= l.count[0]; x++ {
							for y := -1; y <= l.count[1]; y++ {
								for z := -1; z <= l.count[2]; z++ {
									if got, want := l.u[l.index(x, y, z)], number(l, x, y, z)*float64(round); got != want {
										return fmt.Errorf("rank %d, %d points a side, round %d, (%d, %d, %d): %v, want %v", world.Rank(), l.n, round, x, y, z, got, want)
									}
								}
							}
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%d ranks, any source %v: %v", ranks, anySource, err)
			}
		}
	}
}
