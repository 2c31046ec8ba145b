package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"banyan/mpi"
)

// A wait ends with its context, and says for whom it was.
func ExampleRecvContext() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := mpi.RecvContext(ctx, world, []int{0}, 1, 3)
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		_, whom, _ := strings.Cut(err.Error(), "exceeded: ")
		fmt.Println(whom)
		return nil
	}))
	// Output:
	// true
	// it waits for a message from rank 1 with tag 3
}

// A probe, too, ends with its context.
func ExampleComm_ProbeContext() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := world.ProbeContext(ctx, 0, 0)
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		return nil
	}))
	// Output:
	// true
}

// A request goes on when a wait for it has ended.
func ExampleRequest_WaitContext() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		buf := []int{0}
		r, err := mpi.Irecv(world, buf, 0, 0)
		if err != nil {
			return err
		}
		_, err = r.WaitContext(ctx)
		fmt.Println(errors.Is(err, context.DeadlineExceeded), r.Active())
		if err := mpi.Send(world, []int{8}, 0, 0); err != nil {
			return err
		}
		_, err = r.Wait()
		fmt.Println(buf)
		return err
	}))
	// Output:
	// true true
	// [8]
}

// A collective gets a deadline by a request.
func ExampleWaitAllContext() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		sum := []int{world.Rank()}
		r, err := mpi.Iallreduce(world, sum, sum, mpi.Sum)
		if err != nil {
			return err
		}
		if err := mpi.WaitAllContext(ctx, &r); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	}))
	// Output:
	// [1]
}

// So do waits for any of several requests.
func ExampleWaitAnyContext() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		r, err := mpi.Irecv(world, []int{0}, 0, 0)
		if err != nil {
			return err
		}
		i, _, err := mpi.WaitAnyContext(ctx, &r)
		fmt.Println(i, errors.Is(err, context.DeadlineExceeded))
		r.Cancel()
		return nil
	}))
	// Output:
	// -1 true
}

// A call that waits for long says for whom.
func ExampleComm_ReportWaits() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			_, err := world.Probe(0, 1)
			return errors.Join(err, mpi.Send(world, []int{1}, 0, 5))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		told := false
		world.ReportWaits(time.Millisecond, func(sentence string) {
			if !told { // the time differs
				fmt.Println(strings.Split(sentence, ", since")[0])
			}
			told = true
			cancel() // ends the receive
		})
		mpi.RecvContext(ctx, world, []int{0}, 1, 5)
		world.ReportWaits(0, nil)
		if err := mpi.Send(world, []int{1}, 1, 1); err != nil {
			return err
		}
		_, err := mpi.Recv(world, []int{0}, 1, 5)
		return err
	}))
	// Output:
	// rank 0 waits for a message from rank 1 with tag 5
}
