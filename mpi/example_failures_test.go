package mpi_test

import (
	"errors"
	"fmt"

	"banyan/mpi"
)

// The ranks that live go on without the lost one.
func ExampleComm_Shrink() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		err := world.Barrier() // an error: rank 1 is lost
		live, shrinkErr := world.Shrink()
		if shrinkErr != nil {
			return shrinkErr
		}
		if live.Rank() == 0 {
			fmt.Println(errors.Is(err, mpi.ErrProcFailed), live.WorldRanks())
		}
		return live.Barrier()
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// true [0 2]
}

// The lost ranks that a rank knows of.
func ExampleComm_Failed() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		if err := world.Barrier(); err == nil {
			return errors.New("nobody was lost")
		}
		if world.Rank() == 0 {
			fmt.Println(world.Failed())
		}
		return nil
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// [1]
}

// Acknowledged losses are no error of an agreement.
func ExampleComm_AckFailed() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		if err := world.Barrier(); err == nil {
			return errors.New("nobody was lost")
		}
		world.AckFailed(len(world.Failed()))
		_, err := world.Agree(1)
		if world.Rank() == 0 {
			fmt.Println(err)
		}
		return nil
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// <nil>
}

// All ranks that live get the same flags.
func ExampleComm_Agree() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		flags, err := world.Agree(uint32(0b111 &^ (1 << world.Rank() / 2)))
		if world.Rank() == 2 {
			fmt.Printf("%b\n", flags)
		}
		return err
	}))
	// Output:
	// 100
}

// A rank that gives up tells all others, who wait in vain.
func ExampleComm_Revoke() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return world.Revoke()
		}
		_, err := mpi.Recv(world, []int{0}, 0, 0)
		fmt.Println(errors.Is(err, mpi.ErrRevoked))
		return nil
	}))
	// Output:
	// true
}

// Whether a communicator is revoked.
func ExampleComm_Revoked() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		fmt.Println(world.Revoked())
		if err := world.Revoke(); err != nil {
			return err
		}
		fmt.Println(world.Revoked())
		return nil
	}))
	// Output:
	// false
	// true
}

// Strict agreements return when all have the outcome.
func ExampleComm_SetStrict() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		world.SetStrict(true)
		flags, err := world.Agree(3)
		if world.Rank() == 0 {
			fmt.Println(flags)
		}
		return err
	}))
	// Output:
	// 3
}

// A resilient sum is that of the ranks that live, the same at all.
func ExampleComm_SetResilient() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		world.SetResilient(true)
		sum := []int{0}
		err := mpi.Allreduce(world, []int{10}, sum, mpi.Sum)
		if world.Rank() == 0 {
			fmt.Println(sum, errors.Is(err, mpi.ErrProcFailed), world.Missing())
		}
		return nil
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// [20] true [1]
}

// The ranks that aren't in a resilient sum.
func ExampleComm_Missing() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		world.SetResilient(true)
		sum := []int{0}
		err := mpi.Allreduce(world, []int{10}, sum, mpi.Sum)
		if world.Rank() == 0 {
			fmt.Println(sum, errors.Is(err, mpi.ErrProcFailed), world.Missing())
		}
		return nil
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// [20] true [1]
}

// The last rank waits to take the place of another.
func ExampleComm_SetSpares() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if err := world.SetSpares(1); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(world.Spares())
		}
		return nil
	}))
	// Output:
	// 1
}

// A job has no spares unless it asks for them.
func ExampleComm_Spares() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			fmt.Println(world.Spares())
		}
		return nil
	}))
	// Output:
	// 0
}

// A spare takes the rank of the lost one.
func ExampleComm_Refill() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		if err := world.SetSpares(1); err != nil {
			return err
		}
		if world.Rank() == 1 {
			return mpi.Send(world, []int{1}, 0, 0) // it is killed here
		}
		if world.Rank() == 0 {
			if _, err := mpi.Recv(world, []int{0}, 1, 0); !errors.Is(err, mpi.ErrProcFailed) {
				return err
			}
		}
		full, err := world.Refill()
		if err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println("rank", world.Rank(), "is now rank", full.Rank(), "of", full.Size())
		}
		return nil
	}, mpi.WithFaults("kill rank=1 at=send:1")))
	// Output:
	// rank 3 is now rank 1 of 3
}
