package mpi_test

import (
	"fmt"

	"banyan/mpi"
)

// Ranks in a grid exchange with their neighbours.
func ExampleComm_Cart() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		up, down := grid.Grid().Shift(0, 1)
		got := []int{-1}
		if _, err := mpi.Sendrecv(grid, []int{grid.Rank()}, down, 0, got, up, 0); err != nil {
			return err
		}
		if grid.Rank() == 1 || grid.Rank() == 3 {
			fmt.Println(grid.Rank(), "got", got)
		}
		return nil
	}))
	// Unordered output:
	// 1 got [-1]
	// 3 got [1]
}

// Only communicators of Cart have a grid.
func ExampleComm_Grid() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Dims(), world.Grid() == nil)
		}
		return nil
	}))
	// Output:
	// [2 2] true
}

// A Grid is arithmetic.
func ExampleGrid() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Coords(grid.Rank()))
		}
		return nil
	}))
	// Output:
	// [0 1]
}

// The dimensions.
func ExampleGrid_Dims() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Dims())
		}
		return nil
	}))
	// Output:
	// [2 2]
}

// Which dimensions are rings.
func ExampleGrid_Periodic() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Periodic())
		}
		return nil
	}))
	// Output:
	// [false true]
}

// Where a rank is.
func ExampleGrid_Coords() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Coords(2))
		}
		return nil
	}))
	// Output:
	// [1 0]
}

// The rank at some place.
func ExampleGrid_Rank() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Rank(1, -1), grid.Grid().Rank(-1, 0) == mpi.ProcNull)
		}
		return nil
	}))
	// Output:
	// 3 true
}

// With whom to exchange.
func ExampleGrid_Shift() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		if grid.Rank() == 1 {
			fmt.Println(grid.Grid().Shift(1, 1))
		}
		return nil
	}))
	// Output:
	// 0 0
}

// The rows of a matrix of ranks.
func ExampleComm_SubCart() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		grid, err := world.Cart([]int{2, 2}, []bool{false, true})
		if err != nil {
			return err
		}
		row, err := grid.SubCart(false, true)
		if err != nil {
			return err
		}
		sum := []int{grid.Rank()}
		if err := mpi.Allreduce(row, sum, sum, mpi.Sum); err != nil {
			return err
		}
		if grid.Rank() == 3 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [5]
}

// Dims chooses a grid that is about square.
func ExampleDims() {
	fmt.Println(mpi.Dims(12, 0, 0))
	fmt.Println(mpi.Dims(12, 0, 2, 0))
	// Output:
	// [4 3] <nil>
	// [3 2 2] <nil>
}

// Each rank names its neighbours.
func ExampleComm_Graph() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		ring, err := world.Graph([]int{left, right}, []int{left, right})
		if err != nil {
			return err
		}
		got := make([]int, 2)
		if err := mpi.NeighborAllgather(ring, []int{10 * world.Rank()}, got); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [30 10]
}

// One rank knows the whole graph.
func ExampleComm_GraphOf() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		var edges []mpi.Edge
		if world.Rank() == 0 {
			edges = []mpi.Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 2, To: 1}}
		}
		graph, err := world.GraphOf(edges...)
		if err != nil {
			return err
		}
		sources, destinations := graph.Neighbors()
		if world.Rank() == 1 {
			fmt.Println(sources, destinations)
		}
		return nil
	}))
	// Output:
	// [0 2] []
}

// From whom a rank receives, and to whom it sends.
func ExampleComm_Neighbors() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		var edges []mpi.Edge
		if world.Rank() == 0 {
			edges = []mpi.Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 2, To: 1}}
		}
		graph, err := world.GraphOf(edges...)
		if err != nil {
			return err
		}
		sources, destinations := graph.Neighbors()
		if world.Rank() == 1 {
			fmt.Println(sources, destinations)
		}
		return nil
	}))
	// Output:
	// [0 2] []
}

// An edge says where data goes.
func ExampleEdge() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		var edges []mpi.Edge
		if world.Rank() == 0 {
			edges = []mpi.Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 2, To: 1}}
		}
		graph, err := world.GraphOf(edges...)
		if err != nil {
			return err
		}
		sources, destinations := graph.Neighbors()
		if world.Rank() == 1 {
			fmt.Println(sources, destinations)
		}
		return nil
	}))
	// Output:
	// [0 2] []
}
