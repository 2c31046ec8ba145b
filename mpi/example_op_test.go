package mpi_test

import (
	"fmt"
	"math"

	"banyan/mpi"
)

// Complex numbers are added, too.
func ExampleSum() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []complex128{1i}
		if err := mpi.Allreduce(world, mine, mine, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [(0+3i)]
}

// The product of all.
func ExampleProd() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int{world.Rank() + 2}
		if err := mpi.Allreduce(world, mine, mine, mpi.Prod); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [24]
}

// The smallest of all.
func ExampleMin() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []float64{1 / float64(world.Rank()+1)}
		if err := mpi.Allreduce(world, mine, mine, mpi.Min); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [0.3333333333333333]
}

// The largest of all.
func ExampleMax() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []int8{int8(10 - world.Rank())}
		if err := mpi.Allreduce(world, mine, mine, mpi.Max); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [10]
}

// The bits that all have.
func ExampleBitAnd() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []uint8{7 << world.Rank()}
		if err := mpi.Allreduce(world, mine, mine, mpi.BitAnd); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [4]
}

// The bits that any has.
func ExampleBitOr() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []uint8{1 << world.Rank()}
		if err := mpi.Allreduce(world, mine, mine, mpi.BitOr); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [7]
}

// The bits that an odd number of ranks have.
func ExampleBitXor() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []uint8{3 << world.Rank()}
		if err := mpi.Allreduce(world, mine, mine, mpi.BitXor); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [9]
}

// Whether all are true.
func ExampleAnd() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []bool{world.Rank() > 0, true}
		if err := mpi.Allreduce(world, mine, mine, mpi.And); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [false true]
}

// Whether any is true.
func ExampleOr() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		mine := []bool{world.Rank() > 1, false}
		if err := mpi.Allreduce(world, mine, mine, mpi.Or); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [true false]
}

// An Op of one's own keeps the point that is farther from the origin.
func ExampleOp() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		type point struct{ X, Y float64 }
		farther := func(inout, in []point) {
			for i, p := range in {
				if math.Hypot(p.X, p.Y) > math.Hypot(inout[i].X, inout[i].Y) {
					inout[i] = p
				}
			}
		}
		mine := []point{{float64(world.Rank()), 1}}
		if err := mpi.Allreduce(world, mine, mine, farther); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(mine)
		}
		return nil
	}))
	// Output:
	// [{3 1}]
}

// norm is for all floating-point numbers.
func norm[T mpi.Number](x []T, square func(T) T) []T {
	for i := range x {
		x[i] = square(x[i])
	}
	return x
}

// Number, Ordered and Integer are constraints for functions of one's own.
func ExampleNumber() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		squares := norm([]float32{2, 3}, func(x float32) float32 { return x * x })
		if err := mpi.Allreduce(world, squares, squares, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(squares)
		}
		return nil
	}))
	// Output:
	// [8 18]
}

// spread is the distance between the smallest and the largest of all ranks.
func spread[T interface {
	mpi.Ordered
	mpi.Number
}](world *mpi.Comm, x T) (T, error) {
	least, most := []T{x}, []T{x}
	if err := mpi.Allreduce(world, least, least, mpi.Min); err != nil {
		return x, err
	}
	err := mpi.Allreduce(world, most, most, mpi.Max)
	return most[0] - least[0], err
}

// A function of one's own for all types that can be compared.
func ExampleOrdered() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		width, err := spread(world, 2.5*float64(world.Rank()))
		if world.Rank() == 0 {
			fmt.Println(width)
		}
		return err
	}))
	// Output:
	// 5
}

// flags tells which bits are the same at all ranks.
func flags[T mpi.Integer](world *mpi.Comm, x T) (T, error) {
	all, any := []T{x}, []T{x}
	if err := mpi.Allreduce(world, all, all, mpi.BitAnd); err != nil {
		return x, err
	}
	err := mpi.Allreduce(world, any, any, mpi.BitOr)
	return ^(all[0] ^ any[0]), err
}

// A function of one's own for all types with bits.
func ExampleInteger() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		same, err := flags(world, uint8(0b1010+world.Rank()))
		if world.Rank() == 0 {
			fmt.Printf("%b\n", same)
		}
		return err
	}))
	// Output:
	// 11111110
}
