package mpi_test

import (
	"errors"
	"fmt"

	"banyan/mpi"
)

// Four ranks as goroutines.
func ExampleLocal() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		sum := []int{world.Rank()}
		if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [6]
}

// Options say how a job is run.
func ExampleLocalOption() {
	options := []mpi.LocalOption{mpi.WithReplicas(2), mpi.WithFaults("kill rank=0 at=send:1")}
	fmt.Println(mpi.Local(2, func(world *mpi.Comm) error { return world.Barrier() }, options...))
	// Output:
	// <nil>
}

// A unit test kills a replica just before its second message, and shows that nobody notices.
func ExampleWithFaults() {
	total := func(world *mpi.Comm) error {
		sum := []int{world.Rank() + 1}
		for range 3 {
			if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
				return err
			}
		}
		if sum[0] != 12 {
			return fmt.Errorf("the sum is %d", sum[0])
		}
		return nil
	}
	fmt.Println(mpi.Local(2, total, mpi.WithReplicas(2), mpi.WithFaults("kill rank=1 at=send:2")))
	fmt.Println(errors.Is(mpi.Local(2, total, mpi.WithFaults("kill rank=1 at=send:2")), mpi.ErrProcFailed))
	// Output:
	// <nil>
	// true
}
