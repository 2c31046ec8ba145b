package mpi_test

import (
	"errors"
	"fmt"

	"banyan/mpi"
)

// check prints the error of an example, if there is one: it isn't expected then.
func check(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

// Ranks pass a token around a ring; each adds its rank.
func Example() {
	err := mpi.Local(4, func(world *mpi.Comm) error {
		token := []int{0}
		next, previous := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		if world.Rank() > 0 {
			if _, err := mpi.Recv(world, token, previous, 0); err != nil {
				return err
			}
		}
		token[0] += world.Rank()
		if err := mpi.Send(world, token, next, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			if _, err := mpi.Recv(world, token, previous, 0); err != nil {
				return err
			}
			fmt.Println("the token came back with", token[0])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: the token came back with 6
}

// Every rank gets the sum of the data of all ranks.
func ExampleAllreduce() {
	err := mpi.Local(3, func(world *mpi.Comm) error {
		mine := []float64{float64(world.Rank()), 1}
		total := make([]float64, 2)
		if err := mpi.Allreduce(world, mine, total, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(total)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 3]
}

// A program may define its own reduction: here, the largest element and its rank.
func ExampleReduce() {
	largest := func(inout, in []int) { // value, rank, value, rank …
		for i := 0; i < len(inout); i += 2 {
			if in[i] > inout[i] {
				inout[i], inout[i+1] = in[i], in[i+1]
			}
		}
	}
	err := mpi.Local(4, func(world *mpi.Comm) error {
		mine := []int{(world.Rank()*7 + 3) % 5, world.Rank()}
		best := make([]int, 2)
		if err := mpi.Reduce(world, mine, best, largest, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Printf("%d at rank %d\n", best[0], best[1])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 4 at rank 3
}

// Requests let communication and computation overlap.
func ExampleIrecv() {
	err := mpi.Local(2, func(world *mpi.Comm) error {
		other := 1 - world.Rank()
		in, out := make([]int, 3), []int{1, 2, 3 * world.Rank()}
		r, err := mpi.Irecv(world, in, other, 0)
		if err != nil {
			return err
		}
		s, err := mpi.Isend(world, out, other, 0)
		if err != nil {
			return err
		}
		// … compute something that needs neither in nor out …
		if err := mpi.WaitAll(&r, &s); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(in)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [1 2 3]
}

// Even and odd ranks exchange messages among themselves.
func ExampleComm_Split() {
	err := mpi.Local(5, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()%2, 0)
		if err != nil {
			return err
		}
		ranks := make([]int, half.Size())
		if err := mpi.Allgather(half, []int{world.Rank()}, ranks); err != nil {
			return err
		}
		if world.Rank() == 4 {
			fmt.Println(ranks)
		}
		return half.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [0 2 4]
}

// When a rank is lost the others get errors that say so, and go on without it.
func ExampleLocal_failure() {
	err := mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return errors.New("out of memory")
		}
		err := mpi.Allreduce(world, []int{1}, []int{0}, mpi.Sum)
		if world.Rank() == 0 {
			fmt.Println("lost a rank:", errors.Is(err, mpi.ErrProcFailed))
		}
		news := []int{42}
		return mpi.Bcast(world, news, 0) // reaches every live rank
	})
	fmt.Println(err)
	// Output:
	// lost a rank: true
	// out of memory
}

// With two replicas of each rank the program doesn't notice the death of one.
func ExampleWithReplicas() {
	err := mpi.Local(2, func(world *mpi.Comm) error {
		sum := []int{world.Rank() + 1}
		return mpi.Allreduce(world, sum, sum, mpi.Sum)
	}, mpi.WithReplicas(2))
	fmt.Println(err)
	// Output: <nil>
}
