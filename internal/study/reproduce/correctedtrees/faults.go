package correctedtrees

import (
	"context"
	"fmt"

	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// faultStudy is section 4.3's campaign: synchronised checked correction along each tree, at
// each fault rate. Figures 8, 9 and 10 and table 1 are made of it.
type faultStudy struct {
	procs  int
	points map[point]*faultPoint
	runs   []run // all, for studies of the same dead processes
	// pairs is how often each longest gap (0) and time of correction (1) came, for each tree.
	pairs []map[[2]int]int
	// outside counts the broadcasts that break lemma 3's bounds, unreached those that
	// leave a live process uncoloured; example is one of them, or "". alone counts those in which
	// only the root corrects, as all its children are dead: the lemma has two that do.
	outside, unreached, alone int
	example                   string
	// down are the quiescence latencies of each tree at the lowest rate, with its share of dead
	// processes rounded down.
	down []sample
}

// point is a tree, by its index, and a number of dead processes.
type point struct{ tree, dead int }

// faultPoint is what was found at a point.
type faultPoint struct {
	quiescence sample // in steps
	correction sample // L_SCC: from the fault-free end of dissemination, in steps
	messages   sample // of all processes
	maxGap     sample
}

// run is one broadcast: its dead processes follow from its seed.
type run struct {
	seed uint64
	tree int8
	dead int32
}

func (e *experiment) studyFaults(ctx context.Context, s *studies) error {
	study := faultStudy{procs: e.Procs, points: map[point]*faultPoint{}}
	var starts []int
	var engine logp.Simulator
	for i := range trees {
		start, err := trees[i].disseminationEnd(&engine, e.Procs, topology.Interleaved)
		if err != nil {
			return err
		}
		starts = append(starts, int(start))
		study.pairs = append(study.pairs, map[[2]int]int{})
	}
	fields := fmt.Sprintf("runs: %d\nprocs: %d\ntree: %s\ncorrection: checked\nstart: synchronized\nfailed: %s\n",
		e.Runs, e.Procs, treeList(), list(e.deadCounts()))
	err := e.campaign(ctx, "checked", stepChecked, fields, func(r *result) error {
		tree, err := treeNamed(r.tree)
		if err != nil {
			return err
		}
		study.add(tree, r, r.quiescence-starts[tree])
		return nil
	})
	if err != nil {
		return err
	}
	for range trees {
		study.down = append(study.down, sample{})
	}
	fields = fmt.Sprintf("runs: %d\nprocs: %d\ntree: %s\ncorrection: checked\nstart: synchronized\nfailed: %d\n",
		e.Runs, e.Procs, treeList(), deadBelow(lowest(), e.Procs))
	err = e.campaign(ctx, "rounded-down", stepRoundedDown, fields, func(r *result) error {
		tree, err := treeNamed(r.tree)
		if err == nil {
			study.down[tree][r.quiescence]++
		}
		return err
	})
	s.faults = study
	return err
}

// add adds a broadcast whose correction took some time.
func (s *faultStudy) add(tree int, r *result, took int) {
	at := point{tree, r.dead}
	p := s.points[at]
	if p == nil {
		p = &faultPoint{sample{}, sample{}, sample{}, sample{}}
		s.points[at] = p
	}
	p.quiescence[r.quiescence]++
	p.correction[took]++
	p.messages[r.messages]++
	p.maxGap[r.maxGap]++
	s.pairs[tree][[2]int{r.maxGap, took}]++
	s.runs = append(s.runs, run{r.seed, int8(tree), int32(r.dead)})
	low, high := bounds(r.maxGap)
	outside := took < low || took > high
	switch {
	case s.isAlone(r.maxGap):
		s.alone++
		outside = false
	case outside:
		s.outside++
	}
	if r.unreached > 0 {
		s.unreached++
	}
	if s.example == "" && (outside || r.unreached > 0) {
		s.example = fmt.Sprintf("%s, %d dead, seed %d: gap %d, %d steps, %d unreached", trees[tree].name, r.dead, r.seed, r.maxGap, took, r.unreached)
	}
}

// isAlone says of a longest gap whether nobody but the root corrects.
func (s *faultStudy) isAlone(gap int) bool { return gap == s.procs-1 }

// at is the point of a tree at a fault rate.
func (s *faultStudy) at(tree int, rate float64) *faultPoint {
	return s.points[point{tree, deadAt(rate, s.procs)}]
}

// all are the gaps and the times of correction of all trees at a fault rate.
func (s *faultStudy) all(rate float64) (gaps, times sample) {
	gaps, times = sample{}, sample{}
	for tree := range trees {
		p := s.at(tree, rate)
		gaps.merge(p.maxGap)
		times.merge(p.correction)
	}
	return gaps, times
}
