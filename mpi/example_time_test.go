package mpi_test

import (
	"fmt"
	"time"

	"banyan/mpi"
)

// The time of day, the same in all replicas of a rank.
func ExampleComm_Now() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		begin := world.Now()
		fmt.Println(world.Now().Sub(begin) < time.Hour)
		return nil
	}))
	// Output:
	// true
}

// A seed that differs between processes, and is the same in all replicas of a rank. In a program it
// comes from rand.Uint64 or a clock.
func ExampleComm_Decide() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		seed := world.Decide(func() uint64 { return 42 })
		fmt.Println(seed)
		return nil
	}))
	// Output:
	// 42
}
