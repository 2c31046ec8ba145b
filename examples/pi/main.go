// Pi throws darts at a square, in batches, and counts those that hit the circle in it. When ranks
// die the others throw their batches again. The result is the same to the last dart, as long as one
// rank lives.
//
//	banyan run -n 4 ./pi
//	banyan run -n 4 --fault 'kill rank=2 at=300ms; kill rank=0 at=700ms' ./pi
//
// It needs no revoke, shrink or agree, since its only collective is a resilient one: that gives all
// ranks that live the same sum, and tells which ranks aren't in it. See docs/guide/ulfm.md. A
// program with data to save and to share out anew is examples/stencil.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"banyan/mpi"
)

func main() {
	var p problem
	flag.IntVar(&p.batches, "batches", 400, "the number of `batches`")
	flag.IntVar(&p.darts, "darts", 1_000_000, "the number of `darts` in each")
	flag.Parse()
	if flag.NArg() > 0 || p.batches < 1 || p.darts < 1 {
		flag.Usage()
		os.Exit(2)
	}
	mpi.Main(func(world *mpi.Comm) error {
		hits, live, err := p.solve(world, func(int) {})
		if err == nil && world.Rank() == live[0] {
			darts := p.batches * p.darts
			fmt.Printf("%d of %d darts hit, with %d of %d ranks: pi is about %.6f\n", hits, darts, len(live), world.Size(), 4*float64(hits)/float64(darts))
		}
		return err
	}, mpi.SurviveRankLoss())
}

// problem is how much is thrown.
type problem struct{ batches, darts int }

// throw is how many darts of a batch hit. It depends on the batch alone.
func (p problem) throw(batch int) (hits int) {
	random := rand.New(rand.NewPCG(uint64(batch), 0))
	for range p.darts {
		if x, y := random.Float64(), random.Float64(); x*x+y*y < 1 {
			hits++
		}
	}
	return hits
}

// solve throws all batches on the ranks that live, which it returns. In each round a rank throws
// one batch. each is called before that.
func (p problem) solve(world *mpi.Comm, each func(round int)) (hits int, live []int, err error) {
	world.SetResilient(true)
	var todo []int // all ranks have the same lists
	for b := range p.batches {
		todo = append(todo, b)
	}
	for r := range world.Size() {
		live = append(live, r)
	}
	for round := 0; len(todo) > 0; round++ {
		each(round)
		sum := []int{0}
		under := todo[:min(len(live), len(todo))] // the first rank that lives has the first batch
		if i := slices.Index(live, world.Rank()); i < len(under) {
			sum[0] = p.throw(under[i])
		}
		err := mpi.Allreduce(world, sum, sum, mpi.Sum)
		if errors.Is(err, mpi.ErrProcFailed) {
			world.AckFailed(len(world.Failed())) // the sum is that of the others
		} else if err != nil {
			return 0, nil, err
		}
		hits += sum[0]
		missing := world.Missing()
		var again []int
		for i, b := range under {
			if slices.Contains(missing, live[i]) {
				again = append(again, b)
			}
		}
		todo = append(again, todo[len(under):]...)
		live = slices.DeleteFunc(live, func(r int) bool { return slices.Contains(missing, r) })
	}
	return hits, live, nil
}
