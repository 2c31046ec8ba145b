package correctedtrees

import (
	"context"
	"fmt"
	"slices"

	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// numberingStudy is figure 1b: how long the correction of a binomial tree takes,
// numbered in order and interleaved, with some dead processes.
type numberingStudy struct {
	sizes  []int
	points map[numberingPoint]sample // times of correction, in steps
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
	deaths := slices.DeleteFunc(slices.Clone(e.Deaths), func(d int) bool { return d >= study.sizes[0] })
	fields := fmt.Sprintf("runs: %d\nprocs: %s\ntree: %s\nnumbering: [interleaved, inorder]\ncorrection: checked\nstart: synchronized\nfailed: %s\n",
		e.NumberingRuns, list(study.sizes), trees[0].spec, list(deaths))
	err := e.campaign(ctx, "numberings", "in order and interleaved", fields, func(r *result) error {
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

// deaths are the numbers of dead processes, ascending.
func (s *numberingStudy) deaths() []int {
	var all []int
	for at := range s.points {
		all = append(all, at.dead)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
