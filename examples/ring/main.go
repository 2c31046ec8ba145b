// Ring passes a token round all ranks; each adds its number.
//
//	banyan run -n 4 ring [-laps 3]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"banyan/mpi"
)

func main() {
	laps := flag.Int("laps", 1, "how often the token goes round")
	flag.Parse()
	if flag.NArg() != 0 || *laps < 1 {
		flag.Usage()
		os.Exit(2)
	}
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Stdout, *laps) })
}

func run(world *mpi.Comm, out io.Writer, laps int) error {
	const tag = 0
	rank, size := world.Rank(), world.Size()
	left, right := (rank+size-1)%size, (rank+1)%size

	token := make([]int64, 1)
	for lap := 1; lap <= laps; lap++ {
		if rank == 0 {
			if err := mpi.Send(world, token, right, tag); err != nil {
				return err
			}
		}
		if _, err := mpi.Recv(world, token, left, tag); err != nil {
			return err
		}
		token[0] += int64(rank)
		if rank == 0 {
			fmt.Fprintf(out, "lap %d: the token is %d\n", lap, token[0])
			continue
		}
		if err := mpi.Send(world, token, right, tag); err != nil {
			return err
		}
	}
	return nil
}
