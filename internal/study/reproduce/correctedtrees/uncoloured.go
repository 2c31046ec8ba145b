package correctedtrees

import (
	"context"
	"math/rand/v2"

	"banyan/internal/study/driver/logp"
	"banyan/internal/study/parallel"
)

// uncolouredStudy says, for the dead of every broadcast of the faultStudy, how many live processes
// overlapped opportunistic correction would have left uncoloured.
type uncolouredStudy struct {
	// left counts the broadcasts by how many they leave, for each distance (by its index), tree
	// and number of dead.
	left []map[point]sample
}

func (e *experiment) studyUncoloured(ctx context.Context, s *studies) error {
	workers := make([]uncolouredWorker, e.Workers)
	for w := range workers {
		workers[w] = newUncolouredWorker()
	}
	runs := s.faults.runs
	progress := func(done int) { e.progress("opportunistic correction: who is left", done, len(runs)) }
	err := parallel.Each(ctx, len(runs), e.Workers, progress, func(worker, i int) error {
		return workers[worker].count(runs[i], e.Procs)
	})
	s.uncoloured = workers[0].uncolouredStudy
	for _, w := range workers[1:] {
		for d := range w.left {
			for p, left := range w.left[d] {
				at(s.uncoloured.left[d], p).merge(left)
			}
		}
	}
	return err
}

// uncolouredWorker counts in a study of its own, with memory of its own.
type uncolouredWorker struct {
	uncolouredStudy
	evaluators []*reach // by the tree's place, made when needed
	counts     []int
}

func newUncolouredWorker() uncolouredWorker {
	w := uncolouredWorker{evaluators: make([]*reach, len(trees))}
	for range distances {
		w.left = append(w.left, map[point]sample{})
	}
	return w
}

// count adds one broadcast among so many processes.
func (w *uncolouredWorker) count(r run, procs int) error {
	if w.evaluators[r.tree] == nil {
		shape, err := trees[r.tree].shape(procs)
		if err != nil {
			return err
		}
		w.evaluators[r.tree] = newReach(&shape)
	}
	c := logp.Case{Procs: procs}
	if err := c.FailRandom(int(r.dead), rand.NewPCG(r.seed, 0)); err != nil {
		return err
	}
	w.counts = w.evaluators[r.tree].unreached(w.counts[:0], c.Failed, distances)
	for d, n := range w.counts {
		at(w.left[d], point{int(r.tree), int(r.dead)})[n]++
	}
	return nil
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
