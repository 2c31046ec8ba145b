// Hello is the smallest program: every rank prints its number.
//
//	banyan run -n 4 hello
package main

import (
	"fmt"

	"banyan/mpi"
)

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		fmt.Printf("rank %d of %d\n", world.Rank(), world.Size())
		return nil
	})
}
