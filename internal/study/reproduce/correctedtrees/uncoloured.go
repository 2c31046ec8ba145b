package correctedtrees

import (
	"context"
	"math/rand/v2"
	"slices"

	"banyan/internal/study/driver/logp"
)

// uncolouredStudy says, for the dead of every broadcast of the faultStudy, how many live processes
// overlapped opportunistic correction would have left uncoloured.
type uncolouredStudy struct {
	// left counts the broadcasts by how many they leave, for each distance (by its index), tree
	// and number of dead.
	left []map[point]sample
}

// uncolouredBlock is how many broadcasts are counted together: one takes less time than its turn.
const uncolouredBlock = 256

// leftBy is how often a broadcast with a tree and a number of dead leaves so many processes
// uncoloured, in a block of broadcasts.
type leftBy struct{ Distance, Tree, Dead, Left, Times int }

func (e *experiment) studyUncoloured(ctx context.Context, s *studies) error {
	workers := make([]uncolouredWorker, e.Workers)
	for w := range workers {
		workers[w].evaluators = make([]*reach, len(trees))
	}
	runs := s.faults.runs
	blocks, err := each(ctx, e, stepUncoloured, (len(runs)+uncolouredBlock-1)/uncolouredBlock, func(worker, b int) ([]leftBy, error) {
		return workers[worker].count(runs[b*uncolouredBlock:min(len(runs), (b+1)*uncolouredBlock)], e.Procs)
	})
	for range distances {
		s.uncoloured.left = append(s.uncoloured.left, map[point]sample{})
	}
	for _, block := range blocks {
		for _, l := range block {
			at(s.uncoloured.left[l.Distance], point{l.Tree, l.Dead})[l.Left] += l.Times
		}
	}
	return err
}

// uncolouredWorker has memory of its own.
type uncolouredWorker struct {
	evaluators []*reach // by the tree's place, made when needed
	counts     []int
}

// count counts some broadcasts among so many processes. Runs come in the order of their points.
func (w *uncolouredWorker) count(runs []run, procs int) (all []leftBy, err error) {
	for _, r := range runs {
		if w.evaluators[r.tree] == nil {
			shape, err := trees[r.tree].shape(procs)
			if err != nil {
				return nil, err
			}
			w.evaluators[r.tree] = newReach(&shape)
		}
		c := logp.Case{Procs: procs}
		if err := c.FailRandom(int(r.dead), rand.NewPCG(r.seed, 0)); err != nil {
			return nil, err
		}
		w.counts = w.evaluators[r.tree].unreached(w.counts[:0], c.Failed, distances)
		for d, n := range w.counts {
			this := leftBy{Distance: d, Tree: int(r.tree), Dead: int(r.dead), Left: n}
			i := slices.IndexFunc(all, func(l leftBy) bool { l.Times = 0; return l == this })
			if i < 0 {
				i = len(all)
				all = append(all, this)
			}
			all[i].Times++
		}
	}
	return all, nil
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
