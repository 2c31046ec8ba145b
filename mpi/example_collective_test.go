package mpi_test

import (
	"fmt"
	"slices"

	"banyan/mpi"
)

// Every rank gets the root's data.
func ExampleBcast() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		greeting := []byte("....")
		if world.Rank() == 0 {
			copy(greeting, "tree")
		}
		if err := mpi.Bcast(world, greeting, 0); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(string(greeting))
		}
		return nil
	}))
	// Output:
	// tree
}

// Each rank gets one element of the sum.
func ExampleReduceScatter() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		sum := make([]int, 1)
		if err := mpi.ReduceScatter(world, []int{1, 10, 100}, sum, nil, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [300]
}

// Each rank gets the sum of the ranks up to it.
func ExampleScan() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		sum := make([]int, 1)
		if err := mpi.Scan(world, []int{world.Rank() + 1}, sum, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [6]
}

// Each rank gets the sum of the ranks before it: where its own data begins in a whole.
func ExampleExscan() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		size, offset := []int{10 * (world.Rank() + 1)}, []int{0}
		if err := mpi.Exscan(world, size, offset, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println(offset)
		}
		return nil
	}))
	// Output:
	// [60]
}

// The root collects one number of each rank.
func ExampleGather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		all := make([]int, world.Size())
		if err := mpi.Gather(world, []int{world.Rank() * world.Rank()}, all, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	}))
	// Output:
	// [0 1 4 9]
}

// The root collects as many numbers of each rank as that has.
func ExampleGatherv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int{7, 8, 9}[:world.Rank()+1]
		all := make([]int, 6)
		if err := mpi.Gatherv(world, mine, all, []int{1, 2, 3}, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	}))
	// Output:
	// [7 7 8 7 8 9]
}

// All ranks collect one number of each.
func ExampleAllgather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		all := make([]int, world.Size())
		if err := mpi.Allgather(world, []int{10 * world.Rank()}, all); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(all)
		}
		return nil
	}))
	// Output:
	// [0 10 20 30]
}

// All ranks collect as many numbers of each as that has.
func ExampleAllgatherv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int{7, 8, 9}[:world.Rank()]
		all := make([]int, 3)
		if err := mpi.Allgatherv(world, mine, all, []int{0, 1, 2}); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(all)
		}
		return nil
	}))
	// Output:
	// [7 7 8]
}

// The root deals its numbers out, two to each rank.
func ExampleScatter() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		part := make([]int, 2)
		if err := mpi.Scatter(world, []int{1, 2, 3, 4, 5, 6}, part, 0); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(part)
		}
		return nil
	}))
	// Output:
	// [5 6]
}

// The root deals its numbers out, to each rank another number of them.
func ExampleScatterv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		part := make([]int, world.Rank())
		if err := mpi.Scatterv(world, []int{1, 2, 3}, []int{0, 1, 2}, part, 0); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println(part)
		}
		return nil
	}))
	// Output:
	// [2 3]
}

// Each rank has a number for each: a matrix is transposed.
func ExampleAlltoall() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		row := []int{10 * world.Rank(), 10*world.Rank() + 1, 10*world.Rank() + 2}
		column := make([]int, 3)
		if err := mpi.Alltoall(world, row, column); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(column)
		}
		return nil
	}))
	// Output:
	// [1 11 21]
}

// Rank r sends r numbers to each.
func ExampleAlltoallv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		n := world.Rank()
		send, counts := slices.Repeat([]int{n}, 3*n), []int{n, n, n}
		recv := make([]int, 0+1+2)
		if err := mpi.Alltoallv(world, send, counts, recv, []int{0, 1, 2}); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(recv)
		}
		return nil
	}))
	// Output:
	// [1 2 2]
}

// Parts are anywhere, and have types of their own: each rank sends numbers to rank 0, and text to
// rank 1.
func ExampleAlltoallw() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		number, text := []float64{float64(world.Rank())}, []byte("text")
		from := [2]mpi.Part{mpi.PartOf(make([]float64, 1)), mpi.PartOf(make([]float64, 1))}
		letters := make([]byte, 8)
		if world.Rank() == 1 {
			from = [2]mpi.Part{mpi.PartOf(letters[:4]), mpi.PartOf(letters[4:])}
		}
		if err := mpi.Alltoallw(world, []mpi.Part{mpi.PartOf(number), mpi.PartOf(text)}, from[:]); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(string(letters))
		}
		return nil
	}))
	// Output:
	// texttext
}

// No rank goes on before all have come.
func ExampleComm_Barrier() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			fmt.Println("rank 0 comes")
		}
		if err := world.Barrier(); err != nil {
			return err
		}
		if world.Rank() == 2 {
			fmt.Println("rank 2 goes on")
		}
		return nil
	}))
	// Output:
	// rank 0 comes
	// rank 2 goes on
}

// A part is a slice of any elements.
func ExamplePartOf() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		in := make([]float32, 2)
		if err := mpi.Alltoallw(world, []mpi.Part{mpi.PartOf([]float32{1, 2})}, []mpi.Part{mpi.PartOf(in)}); err != nil {
			return err
		}
		fmt.Println(in)
		return nil
	}))
	// Output:
	// [1 2]
}

// Parts of different types, and empty ones, go together.
func ExamplePart() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		send := []mpi.Part{{}, mpi.PartOf([]int{7})} // only to rank 1
		n := []int{0}
		recv := []mpi.Part{{}, {}}
		if world.Rank() == 1 {
			recv[0], recv[1] = mpi.PartOf(n), mpi.PartOf(make([]int, 1))
		}
		if err := mpi.Alltoallw(world, send, recv); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(n)
		}
		return nil
	}))
	// Output:
	// [7]
}
