// Stencil computes how heat spreads along a rod, and goes on when ranks die. Each rank keeps a copy
// of its part in its own memory and in that of its right neighbour, the buddy. When a rank dies the
// others shrink the communicator, share the rod among them, and go on from the last copies. The
// result is the same to the bit as if nobody had died.
//
//	banyan run -n 4 ./stencil
//	banyan run -n 4 --fault 'kill rank=2 at=300ms' ./stencil -steps 200000
//
// With spare ranks it keeps its size: a spare takes the part of the dead rank.
//
//	banyan run -n 4 --spare-ranks 2 --fault 'kill rank=2 at=300ms' ./stencil -steps 200000
//
// If a rank and its buddy die between two copies, the part is lost, and the program ends with an
// error. If the rank that prints dies between the last agreement and its print, nothing is printed.
// With replicas the program runs, too, and sees no death. docs/guide/ulfm.md tells what it uses.
package main

import (
	"flag"
	"fmt"
	"os"

	"banyan/mpi"
)

func main() {
	var p problem
	flag.IntVar(&p.cells, "cells", 1000, "the rod's `number` of cells")
	flag.IntVar(&p.steps, "steps", 20_000, "the `number` of steps")
	flag.IntVar(&p.every, "every", 500, "copies are made each so many `steps`")
	flag.Parse()
	if flag.NArg() > 0 || p.cells < 1 || p.steps < 0 || p.every < 1 {
		flag.Usage()
		os.Exit(2)
	}
	mpi.Main(func(world *mpi.Comm) error {
		sum, err := p.solve(world, func(int, int) {})
		if err != nil || sum.rank != 0 || sum.ranks == 0 {
			return err
		}
		fmt.Printf("after %d steps the rod's heat is %.6f (%016x), with %d of %d ranks\n",
			p.steps, sum.heat, sum.hash, sum.ranks, world.Size()-world.Spares())
		return nil
	}, mpi.SurviveRankLoss())
}
