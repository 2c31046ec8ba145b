package mpi_test

import (
	"errors"
	"fmt"

	"banyan/mpi"
)

// A rank needn't wait for its large sends one by one.
func ExampleIsend() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() > 0 {
			_, err := mpi.Recv(world, make([]float64, 100_000), 0, 0)
			return err
		}
		sends := make([]*mpi.Request, 2)
		for i := range sends {
			r, err := mpi.Isend(world, make([]float64, 100_000), i+1, 0)
			if err != nil {
				return err
			}
			sends[i] = &r
		}
		err := mpi.WaitAll(sends...)
		fmt.Println("all are sent:", err == nil)
		return err
	}))
	// Output:
	// all are sent: true
}

// Wait returns what a Recv would have.
func ExampleRequest_Wait() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		other := 1 - world.Rank()
		in, out := make([]int, 1), []int{world.Rank()}
		r, err := mpi.Irecv(world, in, other, 0)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, out, other, 0); err != nil {
			return err
		}
		s, err := r.Wait()
		if world.Rank() == 0 {
			fmt.Println(in, s.Source)
		}
		return err
	}))
	// Output:
	// [1] 1
}

// Test looks whether a request has ended.
func ExampleRequest_Test() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		buf := []int{0}
		r, err := mpi.Irecv(world, buf, 0, 0)
		if err != nil {
			return err
		}
		_, done, err := r.Test()
		fmt.Println(done)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{5}, 0, 0); err != nil {
			return err
		}
		_, done, err = r.Test()
		fmt.Println(done, buf)
		return err
	}))
	// Output:
	// false
	// true [5]
}

// A request is active until a call has returned its outcome.
func ExampleRequest_Active() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		r, err := world.Ibarrier()
		if err != nil {
			return err
		}
		fmt.Println(r.Active())
		_, err = r.Wait()
		fmt.Println(r.Active())
		return err
	}))
	// Output:
	// true
	// false
}

// A receive for which no message has come can be given up.
func ExampleRequest_Cancel() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		r, err := mpi.Irecv(world, []int{0}, 0, 0)
		if err != nil {
			return err
		}
		fmt.Println(r.Cancel())
		_, err = r.Wait()
		fmt.Println(errors.Is(err, mpi.ErrCancelled))
		return nil
	}))
	// Output:
	// true
	// true
}

// Requests let a rank wait for several things.
func ExampleRequest() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		other := 1 - world.Rank()
		in, out := make([]int, 1), []int{world.Rank()}
		r, err := mpi.Irecv(world, in, other, 0)
		if err != nil {
			return err
		}
		s, err := mpi.Isend(world, out, other, 0)
		if err != nil {
			return err
		}
		if err := mpi.WaitAll(&r, &s); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(in)
		}
		return nil
	}))
	// Output:
	// [0]
}

// WaitAll waits for requests of all kinds.
func ExampleWaitAll() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		other := 1 - world.Rank()
		in, out := make([]int, 1), []int{world.Rank()}
		r, err := mpi.Irecv(world, in, other, 0)
		if err != nil {
			return err
		}
		all, err := world.Ibarrier()
		if err != nil {
			return err
		}
		if err := mpi.Send(world, out, other, 0); err != nil {
			return err
		}
		if err := mpi.WaitAll(&r, &all); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(in)
		}
		return nil
	}))
	// Output:
	// [1]
}

// WaitAny takes the outcome of a request that has ended.
func ExampleWaitAny() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		a, b := []int{0}, []int{0}
		first, err := mpi.Irecv(world, a, 0, 1)
		if err != nil {
			return err
		}
		second, err := mpi.Irecv(world, b, 0, 2)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{22}, 0, 2); err != nil {
			return err
		}
		i, s, err := mpi.WaitAny(&first, &second)
		fmt.Println(i, s.Tag, b)
		first.Cancel()
		return err
	}))
	// Output:
	// 1 2 [22]
}

// TestAny does so without waiting.
func ExampleTestAny() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		a, b := []int{0}, []int{0}
		first, err := mpi.Irecv(world, a, 0, 1)
		if err != nil {
			return err
		}
		second, err := mpi.Irecv(world, b, 0, 2)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{22}, 0, 2); err != nil {
			return err
		}
		i, _, ok, err := mpi.TestAny(&first, &second)
		fmt.Println(i, ok)
		first.Cancel()
		return err
	}))
	// Output:
	// 1 true
}

// TestAll takes no outcome as long as a request goes on.
func ExampleTestAll() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		a, b := []int{0}, []int{0}
		first, err := mpi.Irecv(world, a, 0, 1)
		if err != nil {
			return err
		}
		second, err := mpi.Irecv(world, b, 0, 2)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{22}, 0, 2); err != nil {
			return err
		}
		all, err := mpi.TestAll(&first, &second)
		fmt.Println(all, second.Active())
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{11}, 0, 1); err != nil {
			return err
		}
		all, err = mpi.TestAll(&first, &second)
		fmt.Println(all, a, b)
		return err
	}))
	// Output:
	// false true
	// true [11] [22]
}

// What a loop does again and again is prepared once.
func ExampleComm_Persistent() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		kept := world.Persistent()
		ghost, edge := []float64{0}, []float64{0}
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		recv, err := mpi.Irecv(kept, ghost, left, 0)
		if err != nil {
			return err
		}
		send, err := mpi.Isend(kept, edge, right, 0)
		if err != nil {
			return err
		}
		sum := []float64{0}
		total, err := mpi.Iallreduce(kept, edge, sum, mpi.Sum)
		if err != nil {
			return err
		}
		for step := range 3 {
			edge[0] = float64(10*step + world.Rank())
			if err := mpi.StartAll(&recv, &send, &total); err != nil {
				return err
			}
			if err := mpi.WaitAll(&recv, &send, &total); err != nil {
				return err
			}
			if world.Rank() == 0 {
				fmt.Println(ghost, sum)
			}
		}
		return nil
	}))
	// Output:
	// [2] [3]
	// [12] [33]
	// [22] [63]
}

// A persistent request is started as often as one likes.
func ExampleRequest_Start() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		kept := world.Persistent()
		ghost, edge := []float64{0}, []float64{0}
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		recv, err := mpi.Irecv(kept, ghost, left, 0)
		if err != nil {
			return err
		}
		send, err := mpi.Isend(kept, edge, right, 0)
		if err != nil {
			return err
		}
		edge[0] = 2.5
		if err := recv.Start(); err != nil {
			return err
		}
		if err := send.Start(); err != nil {
			return err
		}
		if err := mpi.WaitAll(&recv, &send); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(ghost)
		}
		return nil
	}))
	// Output:
	// [2.5]
}

// StartAll starts several.
func ExampleStartAll() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		kept := world.Persistent()
		ghost, edge := []float64{0}, []float64{0}
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		recv, err := mpi.Irecv(kept, ghost, left, 0)
		if err != nil {
			return err
		}
		send, err := mpi.Isend(kept, edge, right, 0)
		if err != nil {
			return err
		}
		edge[0] = 2.5
		if err := mpi.StartAll(&recv, &send); err != nil {
			return err
		}
		if err := mpi.WaitAll(&recv, &send); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(ghost)
		}
		return nil
	}))
	// Output:
	// [2.5]
}

// Free gives what a persistent request keeps back.
func ExampleRequest_Free() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		r, err := world.Persistent().Ibarrier()
		if err != nil {
			return err
		}
		if err := r.Free(); err != nil {
			return err
		}
		fmt.Println(errors.Is(r.Start(), mpi.ErrPersistent))
		return nil
	}))
	// Output:
	// true
}
