package correctedtrees

import (
	"context"

	"banyan/internal/study/driver/logp"
)

// faultFreeStudy is section 4.1: broadcasts to more and more processes, none of them dead. Those
// along trees are exact; one run is enough. Figures 6, 7 and 14 are made of it.
type faultFreeStudy struct {
	sizes    []int
	outcomes map[faultFreePoint]logp.Outcome
	gossip   map[int]*gossipSize // by the number of processes
}

type faultFreePoint struct {
	tree       int // by its index
	procs      int
	correction string // its name
}

// gossipSize is Corrected Gossip with so many processes.
type gossipSize struct {
	fastest    int // gossip time with the lowest average latency under checked correction, in steps
	quiescence sample
	coloring   sample
	messages   sample
	safe       []gossipSafe // opportunistic, for each distance, by its place
	safety     *gossipSafety
}

// gossipSafe is opportunistic Corrected Gossip with the shortest time that left no process
// uncoloured.
type gossipSafe struct {
	time                 int
	quiescence, messages sample
}

func (e *experiment) studyFaultFree(ctx context.Context, s *studies) error {
	study := faultFreeStudy{sizes: e.Sizes, outcomes: map[faultFreePoint]logp.Outcome{}, gossip: map[int]*gossipSize{}}
	corrections := []correction{plain, acknowledged, checked, single}
	for _, d := range append([]int{1}, distances...) {
		corrections = append(corrections, optimised(d))
	}
	type job struct {
		at faultFreePoint
		c  logp.Case
	}
	var jobs []job
	for _, procs := range e.Sizes {
		for i := range trees {
			for _, c := range corrections {
				jobs = append(jobs, job{faultFreePoint{i, procs, c.name}, trees[i].broadcastCase(procs, c)})
			}
		}
	}
	engines := make([]logp.Simulator, e.Workers)
	outcomes, err := each(ctx, e, stepFaultFree, len(jobs), func(worker, i int) (logp.Outcome, error) {
		return engines[worker].Run(&jobs[i].c, nil)
	})
	if err != nil {
		return err
	}
	for i, j := range jobs {
		study.outcomes[j.at] = outcomes[i]
	}
	for _, procs := range e.Sizes {
		if study.gossip[procs], err = e.studyGossipSize(ctx, procs); err != nil {
			return err
		}
	}
	s.faultFree = study
	return nil
}
