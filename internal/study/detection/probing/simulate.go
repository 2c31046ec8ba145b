package probing

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"banyan/internal/study/parallel"
)

// Spec says how much to simulate.
type Spec struct {
	Nodes   int
	First   int // the number of the first run: runs of one number are the same
	Runs    int
	Seed    uint64
	Workers int
	Done    func(runs int) // called now and then; may be nil
}

// Validate returns an error for a spec that makes no sense.
func (s *Spec) Validate() error {
	switch {
	case s.Nodes < 2 || s.Nodes > 1<<30:
		return fmt.Errorf("%d nodes: want 2 to 2^30", s.Nodes)
	case s.Runs < 1 || s.First < 0:
		return fmt.Errorf("%d runs from %d on: want at least 1, from 0", s.Runs, s.First)
	}
	return nil
}

// RoundsUntilAll simulates how many rounds pass until every node has been probed.
func RoundsUntilAll(ctx context.Context, s Spec) (Histogram, error) {
	return s.run(ctx, func(r *round) int {
		clear(r.probed)
		rounds := 0
		for left := r.nodes; left > 0; rounds++ {
			r.throw(func(target int) {
				word, bit := target/64, uint64(1)<<(target%64)
				if r.probed[word]&bit == 0 {
					r.probed[word] |= bit
					left--
				}
			})
		}
		return rounds
	})
}

// MostProbes simulates how many probes hit the most probed node in one round.
func MostProbes(ctx context.Context, s Spec) (Histogram, error) {
	return s.run(ctx, func(r *round) int {
		clear(r.hits)
		most := uint16(0)
		r.throw(func(target int) {
			r.hits[target]++
			most = max(most, r.hits[target])
		})
		return int(most)
	})
}

// Missed simulates how many nodes aren't probed in one round.
func Missed(ctx context.Context, s Spec) (Histogram, error) {
	return s.run(ctx, func(r *round) int {
		clear(r.probed)
		missed := r.nodes
		r.throw(func(target int) {
			word, bit := target/64, uint64(1)<<(target%64)
			if r.probed[word]&bit == 0 {
				r.probed[word] |= bit
				missed--
			}
		})
		return missed
	})
}

// run makes the histogram of an outcome over all runs.
func (s *Spec) run(ctx context.Context, outcome func(*round) int) (Histogram, error) {
	if err := s.Validate(); err != nil {
		return Histogram{}, err
	}
	workers := max(1, min(s.Workers, s.Runs))
	rounds := make([]*round, workers)
	counts := make([]Histogram, workers)
	err := parallel.Each(ctx, s.Runs, workers, s.Done, func(worker, run int) error {
		if rounds[worker] == nil {
			rounds[worker] = newRound(s.Nodes)
		}
		r := rounds[worker]
		r.source.Seed(parallel.Seed(s.Seed, s.Nodes, s.First+run), 0)
		counts[worker].Add(outcome(r), 1)
		return nil
	})
	// Sums, so the order of workers doesn't matter.
	var all Histogram
	for i := range counts {
		all.merge(&counts[i])
	}
	return all, err
}

// round is the memory for one simulated round.
type round struct {
	nodes  int
	source rand.PCG
	probed []uint64 // a bit for each node
	hits   []uint16
}

func newRound(nodes int) *round {
	return &round{nodes: nodes, probed: make([]uint64, (nodes+63)/64), hits: make([]uint16, nodes)}
}

// throw draws each node's target, uniformly among the others.
func (r *round) throw(hit func(target int)) {
	others := uint64(r.nodes - 1)
	for node := range r.nodes {
		// The high word of a 64-bit draw times n is biased by less than n/2^64.
		high, _ := bits.Mul64(r.source.Uint64(), others)
		target := int(high)
		if target >= node {
			target++
		}
		hit(target)
	}
}
