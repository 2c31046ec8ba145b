package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/mpi"
)

// A communicator is a group of ranks with messages of its own.
func ExampleComm() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		quiet, err := world.Dup()
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(quiet.Size(), "ranks")
		}
		return quiet.Free()
	}))
	// Output:
	// 3 ranks
}

// Each rank has a number.
func ExampleComm_Rank() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == world.Size()-1 {
			fmt.Println("I am the last one:", world.Rank())
		}
		return nil
	}))
	// Output:
	// I am the last one: 2
}

// How many ranks there are.
func ExampleComm_Size() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			fmt.Println(world.Size())
		}
		return nil
	}))
	// Output:
	// 3
}

// A library sends over a communicator of its own: its messages meet no others.
func ExampleComm_Dup() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		own, err := world.Dup()
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{1}, 0, 0); err != nil {
			return err
		}
		_, found, err := own.Iprobe(0, 0)
		fmt.Println(found)
		return err
	}))
	// Output:
	// false
}

// A communicator that was freed can't be used.
func ExampleComm_Free() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		c, err := world.Dup()
		if err != nil {
			return err
		}
		if err := c.Free(); err != nil {
			return err
		}
		fmt.Println(errors.Is(mpi.Send(c, []int{1}, 0, 0), mpi.ErrFreed))
		return nil
	}))
	// Output:
	// true
}

// The members of a communicator.
func ExampleComm_WorldRanks() {
	check(mpi.Local(4, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()%2, 0)
		if err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println(half.WorldRanks())
		}
		return nil
	}))
	// Output:
	// [1 3]
}

// How long something takes.
func ExampleComm_Wtime() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		begin := world.Wtime()
		time.Sleep(2 * time.Millisecond)
		fmt.Println(world.Wtime()-begin >= 0.002)
		return nil
	}))
	// Output:
	// true
}

// Which processes are in the job.
func ExampleComm_View() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		v := world.View()
		if world.Rank() == 0 {
			fmt.Println("view", v.Number, "has", len(v.Members), "members")
		}
		return nil
	}))
	// Output:
	// view 1 has 2 members
}

// The members of a view are processes.
func ExampleView() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			fmt.Println(world.View().Members)
		}
		return world.Barrier()
	}))
	// Output:
	// [rank 0 replica 0 rank 1 replica 0]
}

// A member says which replica of which rank it is.
func ExampleMember() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		m := world.View().Members[0]
		fmt.Println(m.Rank, m.Replica, m.Incarnation)
		return nil
	}))
	// Output:
	// 0 0 0
}

// In words.
func ExampleMember_String() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		fmt.Println(world.View().Members[0])
		return nil
	}))
	// Output:
	// rank 0 replica 0
}

// A monitor follows the views until its context ends.
func ExampleComm_Views() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for v := range world.Views(ctx) {
			if world.Rank() == 0 {
				fmt.Println("view", v.Number)
			}
			break
		}
		return nil
	}))
	// Output:
	// view 1
}

// A process that is started alone is a job of one rank.
func ExampleInit() {
	p, err := mpi.Init()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Finalize()
	fmt.Println(p.World().Size())
	// Output:
	// 1
}

// Programs that don't use Main have a Process.
func ExampleProcess() {
	p, err := mpi.Init()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.World().Barrier(), p.Finalize())
	// Output:
	// <nil> <nil>
}

// World has all ranks.
func ExampleProcess_World() {
	p, err := mpi.Init()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Finalize()
	fmt.Println(p.World().Rank())
	// Output:
	// 0
}

// After Finalize nothing can be sent.
func ExampleProcess_Finalize() {
	p, err := mpi.Init()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Finalize())
	_, err = mpi.Recv(p.World(), []int{0}, 0, 0)
	fmt.Println(errors.Is(err, mpi.ErrClosed))
	// Output:
	// <nil>
	// true
}

// A program that handles the loss of ranks says so.
func ExampleSurviveRankLoss() {
	p, err := mpi.Init(mpi.SurviveRankLoss())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Finalize())
	// Output:
	// <nil>
}

// Options are given to Init or Main.
func ExampleOption() {
	options := []mpi.Option{mpi.SurviveRankLoss()}
	p, err := mpi.Init(options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Finalize())
	// Output:
	// <nil>
}
