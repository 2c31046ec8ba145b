package correctedtrees

import (
	"context"
	"math/rand/v2"

	"banyan/internal/logp"
)

// uncolouredStudy says, for the dead of every broadcast of the faultStudy, how many live processes
// overlapped opportunistic correction would have left uncoloured.
type uncolouredStudy struct {
	// left counts the broadcasts by how many they leave, for each distance (by its
	// place), tree and number of dead.
	left []map[point]sample
}

func (e *experiment) studyUncoloured(ctx context.Context, s *studies) error {
	study := uncolouredStudy{}
	for range distances {
		study.left = append(study.left, map[point]sample{})
	}
	runs := s.faults.runs
	progress := func(done int) { e.progress("opportunistic correction: who is left", done, len(runs)) }
	err := parallel(ctx, e.Workers, len(runs), progress, func() (func(int) error, func()) {
		evaluators := make([]*reach, len(trees))
		var counts []int
		found := make([]map[point]sample, len(distances))
		for d := range found {
			found[d] = map[point]sample{}
		}
		one := func(i int) error {
			r := runs[i]
			if evaluators[r.tree] == nil {
				shape, err := trees[r.tree].shape(e.Procs)
				if err != nil {
					return err
				}
				evaluators[r.tree] = newReach(&shape)
			}
			c := logp.Case{Procs: e.Procs}
			if err := c.FailRandom(int(r.dead), rand.NewPCG(r.seed, 0)); err != nil {
				return err
			}
			counts = evaluators[r.tree].unreached(counts[:0], c.Failed, distances)
			for d, n := range counts {
				at(found[d], point{int(r.tree), int(r.dead)})[n]++
			}
			return nil
		}
		return one, func() {
			for d := range found {
				for p, left := range found[d] {
					at(study.left[d], p).merge(left)
				}
			}
		}
	})
	s.uncoloured = study
	return err
}

// at is one of many samples, made when it is asked for.
func at(samples map[point]sample, p point) sample {
	if samples[p] == nil {
		samples[p] = sample{}
	}
	return samples[p]
}

// at is all trees' broadcasts at a fault rate, by how many each leaves.
func (s *uncolouredStudy) at(distance int, rate float64, procs int) sample {
	all := sample{}
	for tree := range trees {
		all.merge(s.left[distance][point{tree, deadAt(rate, procs)}])
	}
	return all
}
