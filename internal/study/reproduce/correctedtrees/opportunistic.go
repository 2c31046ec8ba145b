package correctedtrees

import (
	"context"
	"fmt"
)

// opportunisticStudy is section 4.3 with optimised overlapped opportunistic
// correction as printed, which the engine must run.
type opportunisticStudy struct {
	points []map[point]*opportunisticPoint // for each distance, by its index
}

type opportunisticPoint struct{ quiescence, messages, unreached sample }

func (e *experiment) studyOpportunistic(ctx context.Context, s *studies) error {
	study := opportunisticStudy{}
	for range distances {
		study.points = append(study.points, map[point]*opportunisticPoint{})
	}
	corrections := make([]string, len(distances))
	for i, d := range distances {
		corrections[i] = fmt.Sprintf("optimized:%d", d)
	}
	fields := fmt.Sprintf("runs: %d\nprocs: %d\ntree: %s\ncorrection: %s\nstart: overlapped\nfailed: %s\n",
		e.EngineRuns, e.Procs, treeList(), list(corrections), list(e.deadCounts()))
	err := e.campaign(ctx, "opportunistic", stepOpportunistic, fields, func(r *result) error {
		tree, err := treeNamed(r.tree)
		if err != nil {
			return err
		}
		for i, d := range distances {
			if d != r.distance {
				continue
			}
			p := study.points[i][point{tree, r.dead}]
			if p == nil {
				p = &opportunisticPoint{sample{}, sample{}, sample{}}
				study.points[i][point{tree, r.dead}] = p
			}
			p.quiescence[r.quiescence]++
			p.messages[r.messages]++
			p.unreached[r.unreached]++
		}
		return nil
	})
	s.opportunistic = study
	return err
}

// at is the point of a distance, by its index, and a tree at a fault rate.
func (s *opportunisticStudy) at(distance, tree int, rate float64, procs int) *opportunisticPoint {
	return s.points[distance][point{tree, deadAt(rate, procs)}]
}
