package mpi_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"banyan/mpi"
)

// A loop whose state a replacement can take over.
func ExampleComm_Safepoint() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		step, field := 0, make([]float64, 4)
		if err := mpi.Register(world, "step", &step); err != nil {
			return err
		}
		if err := mpi.RegisterSlice(world, "field", field); err != nil {
			return err
		}
		for ; step < 3; step++ {
			if _, err := world.Safepoint(); err != nil {
				return err
			}
			field[step]++
		}
		if world.Rank() == 0 {
			fmt.Println(field)
		}
		return nil
	}))
	// Output:
	// [1 1 1 0]
}

// A value is registered once.
func ExampleRegister() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		counter := 1
		fmt.Println(mpi.Register(world, "counter", &counter))
		fmt.Println(errors.Is(mpi.Register(world, "counter", &counter), mpi.ErrRegistered))
		return nil
	}))
	// Output:
	// <nil>
	// true
}

// Large fields are registered as they are.
func ExampleRegisterSlice() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		fmt.Println(mpi.RegisterSlice(world, "field", make([]float64, 1000)))
		return nil
	}))
	// Output:
	// <nil>
}

// A program that reads its input by a reader says so.
func ExampleRegisterInput() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		in := bufio.NewReader(os.Stdin)
		mpi.RegisterInput(world, in)
		_, err := world.Safepoint()
		fmt.Println(err)
		return nil
	}))
	// Output:
	// <nil>
}

// A value that isn't needed any more.
func ExampleUnregister() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		x := 1
		if err := mpi.Register(world, "x", &x); err != nil {
			return err
		}
		fmt.Println(mpi.Unregister(world, "x"))
		fmt.Println(errors.Is(mpi.Unregister(world, "x"), mpi.ErrUnknown))
		return nil
	}))
	// Output:
	// <nil>
	// true
}

// counter is a State: it says itself how it is saved.
type counter struct{ n byte }

func (c *counter) MarshalBinary() ([]byte, error) { return []byte{c.n}, nil }

func (c *counter) UnmarshalBinary(b []byte) error {
	c.n = b[0]
	return nil
}

// A State may keep what it is in fields that aren't exported.
func ExampleState() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		fmt.Println(mpi.Register(world, "counter", &counter{3}))
		return nil
	}))
	// Output:
	// <nil>
}

// People who watch the job see how much of the program is left.
func ExampleComm_ExpectSafepoints() {
	const steps = 3
	check(mpi.Local(2, func(world *mpi.Comm) error {
		world.ExpectSafepoints(steps)
		for range steps {
			if _, err := world.Safepoint(); err != nil {
				return err
			}
		}
		return nil
	}))
	// Output:
}
