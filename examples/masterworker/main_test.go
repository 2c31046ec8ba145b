package main

import (
	"testing"

	"banyan/mpi"
)

// Both ways to hand out tasks do each once, and sum up the same.
func TestMaster(t *testing.T) {
	const tasks = 40
	sums := map[bool]float64{}
	for _, fixed := range []bool{false, true} {
		err := mpi.Local(4, func(world *mpi.Comm) error {
			if world.Rank() > 0 {
				return work(world)
			}
			sum, err := master(world, tasks, fixed)
			sums[fixed] = sum
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sums[false] != sums[true] || sums[true] == 0 {
		t.Errorf("the sums are %v", sums)
	}
}
