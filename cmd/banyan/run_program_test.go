package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"banyan/mpi"
)

// ring is a program for the scripts: "ring ROUNDS [PAUSE]" sends a number
// around a ring and adds all ranks' numbers up, again and again, and rank 0 prints
// both.
func ring() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var pause time.Duration
	if len(os.Args) > 2 {
		if pause, err = time.ParseDuration(os.Args[2]); err != nil {
			panic(err)
		}
	}
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		number := []int64{int64(rank)}
		for round := range rounds {
			got := make([]int64, 1)
			if _, err := mpi.Sendrecv(world, number, (rank+1)%size, 0, got, (rank+size-1)%size, 0); err != nil {
				return err
			}
			number[0] = got[0]*3%1000 + int64(round)
			sum := make([]int64, 1)
			if err := mpi.Allreduce(world, number, sum, mpi.Sum[int64]); err != nil {
				return err
			}
			if rank == 0 {
				fmt.Printf("round %d: %d of %d\n", round, number[0], sum[0])
			}
			time.Sleep(pause)
		}
		return nil
	})
}
