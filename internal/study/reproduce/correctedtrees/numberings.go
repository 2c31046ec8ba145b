package correctedtrees

import (
	"context"
	"fmt"
	"slices"

	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// numberingStudy is figure 1b: how long the correction of a binomial tree takes,
// numbered in order and interleaved, with some dead processes.
type numberingStudy struct {
	sizes  []int
	points map[numberingPoint]sample // times of correction, in steps
	// each has the times with one dead process, each process of the largest tree once.
	each map[string]sample // by the numbering
}

type numberingPoint struct {
	numbering   string
	procs, dead int
}

func (e *experiment) studyNumberings(ctx context.Context, s *studies) error {
	study := numberingStudy{points: map[numberingPoint]sample{}}
	starts := map[numberingPoint]int{}
	var engine logp.Simulator
	for _, procs := range []int{e.Procs / 16, e.Procs / 4, e.Procs} {
		study.sizes = append(study.sizes, procs)
		for _, n := range []topology.Numbering{topology.Interleaved, topology.InOrder} {
			start, err := trees[0].disseminationEnd(&engine, procs, n)
			if err != nil {
				return err
			}
			starts[numberingPoint{n.String(), procs, 0}] = int(start)
		}
	}
	study.each = map[string]sample{}
	for _, n := range []topology.Numbering{topology.Interleaved, topology.InOrder} {
		times, err := e.eachDead(ctx, n, starts[numberingPoint{n.String(), e.Procs, 0}])
		if err != nil {
			return err
		}
		study.each[n.String()] = times
	}
	deaths := slices.DeleteFunc(e.allDeaths(), func(d int) bool { return d >= study.sizes[0] })
	fields := fmt.Sprintf("runs: %d\nprocs: %s\ntree: %s\nnumbering: [interleaved, inorder]\ncorrection: checked\nstart: synchronized\nfailed: %s\n",
		e.NumberingRuns, list(study.sizes), trees[0].spec, list(deaths))
	err := e.campaign(ctx, "numberings", stepNumberings, fields, func(r *result) error {
		at := numberingPoint{r.numbering, r.procs, r.dead}
		if study.points[at] == nil {
			study.points[at] = sample{}
		}
		study.points[at][r.quiescence-starts[numberingPoint{r.numbering, r.procs, 0}]]++
		return nil
	})
	s.numberings = study
	return err
}

// allDeaths are the numbers of dead processes of figure 1b, and more.
func (e *experiment) allDeaths() []int {
	all := slices.Sorted(slices.Values(slices.Concat(paperDeaths, e.Deaths)))
	return slices.Compact(all)
}

// eachDead finds how long correction takes if one process is dead, for each process.
func (e *experiment) eachDead(ctx context.Context, n topology.Numbering, start int) (sample, error) {
	c := trees[0].broadcastCase(e.Procs, checked)
	c.Numbering = n
	evaluators := make([]*incremental.Evaluator, e.Workers)
	for i := range evaluators {
		var err error
		if evaluators[i], err = incremental.New(&c); err != nil {
			return nil, err
		}
	}
	const block = 1024 // a broadcast takes less time than its turn
	others := e.Procs - 1
	blocks, err := each(ctx, e, stepOneDead(n), (others+block-1)/block, func(worker, b int) (sample, error) {
		times := sample{}
		for i := b * block; i < min(others, (b+1)*block); i++ {
			outcome, err := evaluators[worker].Run([]int{i + 1})
			if err != nil {
				return nil, err
			}
			times[int(outcome.Quiescence)-start]++
		}
		return times, nil
	})
	times := sample{}
	for _, b := range blocks {
		times.merge(b)
	}
	return times, err
}

// deaths are the numbers of dead processes, ascending.
func (s *numberingStudy) deaths() []int {
	var all []int
	for at := range s.points {
		all = append(all, at.dead)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
