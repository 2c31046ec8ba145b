package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"banyan/mpi"
)

// relayed is a program for the scripts: "relayed ROUNDS PAUSE [large]". Numbers go around
// a ring and change at each rank, so that one error changes all later ones; at the end
// rank 0 prints what came of them.
func relayed() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	pause, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	extra := 0
	if len(os.Args) > 3 {
		extra = 20_000 // numbers that only make messages large
	}
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		number, got, sum := make([]int64, 1+extra), make([]int64, 1+extra), []int64{0}
		number[0] = int64(rank)
		for round := range rounds {
			if _, err := mpi.Sendrecv(world, number, (rank+1)%size, 0, got, (rank+size-1)%size, 0); err != nil {
				return err
			}
			if err := mpi.Allreduce(world, got[:1], sum, mpi.Sum[int64]); err != nil {
				return err
			}
			total := sum[0]
			for _, x := range got[1:] {
				total += x // all of them are 0
			}
			number[0] = (got[0]*3 + total) % 1_000_003 * int64(1+round%2)
			time.Sleep(pause)
		}
		if rank == 0 {
			fmt.Println("result", number[0])
		}
		return nil
	})
}
