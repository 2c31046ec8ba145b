package mpi_test

import (
	"fmt"

	"banyan/mpi"
)

// Each neighbour gets the same.
func ExampleNeighborAllgather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		got := make([]int, 2)
		if err := mpi.NeighborAllgather(ring, []int{world.Rank()}, got); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [3 1]
}

// Each neighbour gets the same.
func ExampleIneighborAllgather() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		got := make([]int, 2)
		r, err := mpi.IneighborAllgather(ring, []int{world.Rank()}, got)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [3 1]
}

// Each neighbour gets the same, and ranks give different amounts.
func ExampleNeighborAllgatherv() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		mine := []int{world.Rank(), world.Rank()}[:1+world.Rank()%2]
		n := 2 - world.Rank()%2 // its neighbours' length
		got := make([]int, 2*n)
		if err := mpi.NeighborAllgatherv(ring, mine, got, []int{n, n}); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [3 3 1 1]
}

// Each neighbour gets the same, and ranks give different amounts.
func ExampleIneighborAllgatherv() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		mine := []int{world.Rank(), world.Rank()}[:1+world.Rank()%2]
		n := 2 - world.Rank()%2 // its neighbours' length
		got := make([]int, 2*n)
		r, err := mpi.IneighborAllgatherv(ring, mine, got, []int{n, n})
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [3 3 1 1]
}

// Each neighbour gets a part of its own.
func ExampleNeighborAlltoall() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		got := make([]int, 2)
		if err := mpi.NeighborAlltoall(ring, []int{10 * world.Rank(), 10*world.Rank() + 1}, got); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [31 10]
}

// Each neighbour gets a part of its own.
func ExampleIneighborAlltoall() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		got := make([]int, 2)
		r, err := mpi.IneighborAlltoall(ring, []int{10 * world.Rank(), 10*world.Rank() + 1}, got)
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [31 10]
}

// The parts may differ in length.
func ExampleNeighborAlltoallv() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		n := world.Rank() % 2 // ranks 1 and 3 send to the left, too
		got := make([]int, 2-n)
		if err := mpi.NeighborAlltoallv(ring, make([]int, 1+n), []int{n, 1}, got, []int{1, 1 - n}); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [0 0]
}

// The parts may differ in length.
func ExampleIneighborAlltoallv() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		n := world.Rank() % 2 // ranks 1 and 3 send to the left, too
		got := make([]int, 2-n)
		r, err := mpi.IneighborAlltoallv(ring, make([]int, 1+n), []int{n, 1}, got, []int{1, 1 - n})
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [0 0]
}

// The parts may be anywhere, and differ in type.
func ExampleNeighborAlltoallw() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		a, b := []float64{0}, []byte{0}
		if err := mpi.NeighborAlltoallw(ring, []mpi.Part{mpi.PartOf([]byte{byte(world.Rank())}), mpi.PartOf([]float64{0.5})}, []mpi.Part{mpi.PartOf(a), mpi.PartOf(b)}); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(a, b)
		}
		return nil
	}))
	// Output:
	// [0.5] [1]
}

// The parts may be anywhere, and differ in type.
func ExampleIneighborAlltoallw() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		a, b := []float64{0}, []byte{0}
		r, err := mpi.IneighborAlltoallw(ring, []mpi.Part{mpi.PartOf([]byte{byte(world.Rank())}), mpi.PartOf([]float64{0.5})}, []mpi.Part{mpi.PartOf(a), mpi.PartOf(b)})
		if err != nil {
			return err
		}
		// … compute something else …
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(a, b)
		}
		return nil
	}))
	// Output:
	// [0.5] [1]
}
