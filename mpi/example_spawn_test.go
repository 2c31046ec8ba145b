package mpi_test

import (
	"errors"
	"fmt"
	"os"

	"banyan/mpi"
)

// Two ranks spawn three, which are this program, too. All five add up their ranks.
func ExampleComm_Spawn() {
	mpi.Main(func(w *mpi.Comm) error {
		var all *mpi.Connection
		if all = w.Parent(); all == nil { // this is the first job, not what it spawns
			self, err := os.Executable()
			if err != nil {
				return err
			}
			all, err = w.Spawn([]mpi.Program{{Path: self, Ranks: 3}}, 0)
			switch {
			case errors.Is(err, mpi.ErrApart):
				return fmt.Errorf("a job with replicas, say, spawns nothing: %w", err)
			case errors.Is(err, mpi.ErrSpawn):
				return fmt.Errorf("the program can't be started: %w", err)
			case err != nil:
				return err
			}
		}
		defer all.Disconnect()
		sum := []int{all.Rank()}
		if err := mpi.Allreduce(all.Comm, sum, sum, mpi.Sum); err != nil {
			return err
		}
		first, own := all.Own()
		if _, others := all.Other(); all.Rank() == first {
			fmt.Printf("%d ranks of %d, from %d on; sum %d\n", own, own+others, first, sum[0])
		}
		return nil
	})
}
