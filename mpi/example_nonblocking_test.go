package mpi_test

import (
	"fmt"
	"slices"

	"banyan/mpi"
)

// Every rank gets the root's data.
func ExampleIbcast() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		greeting := []byte("....")
		if world.Rank() == 0 {
			copy(greeting, "tree")
		}
		r, err := mpi.Ibcast(world, greeting, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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

// The root gets the largest number.
func ExampleIreduce() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		largest := make([]int, 1)
		r, err := mpi.Ireduce(world, []int{world.Rank() * 7 % 5}, largest, mpi.Max, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(largest)
		}
		return nil
	}))
	// Output:
	// [4]
}

// All ranks get the sum, and may compute until it is there.
func ExampleIallreduce() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		sum := []int{world.Rank()}
		r, err := mpi.Iallreduce(world, sum, sum, mpi.Sum)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [6]
}

// Each rank gets one element of the sum.
func ExampleIreduceScatter() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		sum := make([]int, 1)
		r, err := mpi.IreduceScatter(world, []int{1, 10, 100}, sum, nil, mpi.Sum)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIscan() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		sum := make([]int, 1)
		r, err := mpi.Iscan(world, []int{world.Rank() + 1}, sum, mpi.Sum)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIexscan() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		size, offset := []int{10 * (world.Rank() + 1)}, []int{0}
		r, err := mpi.Iexscan(world, size, offset, mpi.Sum)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIgather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		all := make([]int, world.Size())
		r, err := mpi.Igather(world, []int{world.Rank() * world.Rank()}, all, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIgatherv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int{7, 8, 9}[:world.Rank()+1]
		all := make([]int, 6)
		r, err := mpi.Igatherv(world, mine, all, []int{1, 2, 3}, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIallgather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		all := make([]int, world.Size())
		r, err := mpi.Iallgather(world, []int{10 * world.Rank()}, all)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIallgatherv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int{7, 8, 9}[:world.Rank()]
		all := make([]int, 3)
		r, err := mpi.Iallgatherv(world, mine, all, []int{0, 1, 2})
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIscatter() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		part := make([]int, 2)
		r, err := mpi.Iscatter(world, []int{1, 2, 3, 4, 5, 6}, part, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIscatterv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		part := make([]int, world.Rank())
		r, err := mpi.Iscatterv(world, []int{1, 2, 3}, []int{0, 1, 2}, part, 0)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIalltoall() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		row := []int{10 * world.Rank(), 10*world.Rank() + 1, 10*world.Rank() + 2}
		column := make([]int, 3)
		r, err := mpi.Ialltoall(world, row, column)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIalltoallv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		n := world.Rank()
		send, counts := slices.Repeat([]int{n}, 3*n), []int{n, n, n}
		recv := make([]int, 0+1+2)
		r, err := mpi.Ialltoallv(world, send, counts, recv, []int{0, 1, 2})
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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
func ExampleIalltoallw() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		number, text := []float64{float64(world.Rank())}, []byte("text")
		from := [2]mpi.Part{mpi.PartOf(make([]float64, 1)), mpi.PartOf(make([]float64, 1))}
		letters := make([]byte, 8)
		if world.Rank() == 1 {
			from = [2]mpi.Part{mpi.PartOf(letters[:4]), mpi.PartOf(letters[4:])}
		}
		r, err := mpi.Ialltoallw(world, []mpi.Part{mpi.PartOf(number), mpi.PartOf(text)}, from[:])
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
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

// A rank that has come may compute until the others have.
func ExampleComm_Ibarrier() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		all, err := world.Ibarrier()
		if err != nil {
			return err
		}
		for done := false; !done && err == nil; {
			// … compute a little …
			_, done, err = all.Test()
		}
		if world.Rank() == 0 {
			fmt.Println("all have come:", !all.Active())
		}
		return err
	}))
	// Output:
	// all have come: true
}
