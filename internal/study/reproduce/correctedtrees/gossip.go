package correctedtrees

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/pieces"
)

// gossipCase is Corrected Gossip to so many processes.
func gossipCase(procs int, c broadcast.Correction, distance int) logp.Case {
	return logp.Case{
		Procs: procs, Latency: latency, Overhead: overhead, Tree: logp.Gossip,
		Correction: c, Distance: distance, Synchronised: true,
	}
}

// studyGossipSize finds the gossip times for so many processes, and what they cost.
func (e *experiment) studyGossipSize(ctx context.Context, procs int) (*gossipSize, error) {
	about := gossipStep(procs)
	c := gossipCase(procs, broadcast.Checked, 0)
	until, err := e.fastest(ctx, about, c)
	if err != nil {
		return nil, err
	}
	found := gossipSize{fastest: int(until)}
	c.Gossip.Until = until
	outcomes, err := e.repeat(ctx, about+stepFastest, c)
	if err != nil {
		return nil, err
	}
	found.quiescence, found.coloring, found.messages = sample{}, sample{}, sample{}
	for _, o := range outcomes {
		found.quiescence[int(o.Quiescence)]++
		found.coloring[int(o.Coloring)]++
		found.messages[o.Messages]++
	}
	if found.safety, err = e.studyGossipSafety(ctx, about+stepSafety, procs, e.safeRuns(procs), e.seedOf("search", 0)); err != nil {
		return nil, err
	}
	for _, d := range distances {
		c := gossipCase(procs, broadcast.Opportunistic, d)
		c.Gossip.Until = proto.Time(found.safety.safe(slices.Index(gossipCorrections[:], 2*d)))
		outcomes, err := e.repeat(ctx, about+stepSafe(d), c)
		if err != nil {
			return nil, err
		}
		safe := gossipSafe{int(c.Gossip.Until), sample{}, sample{}}
		for _, o := range outcomes {
			safe.quiescence[int(o.Quiescence)]++
			safe.messages[o.Messages]++
		}
		found.safe = append(found.safe, safe)
	}
	return &found, nil
}

// safeRuns are those of which none may leave a process uncoloured. The paper's statement is about
// its largest number of processes.
func (e *experiment) safeRuns(procs int) int {
	if procs < e.Procs {
		return max(1, e.SafeRuns/10)
	}
	return e.SafeRuns
}

// fastest is the gossip time with the lowest average quiescence latency.
func (e *experiment) fastest(ctx context.Context, about string, c logp.Case) (proto.Time, error) {
	search := e.search(ctx, about+stepSearch, c)
	until, _, err := search.Fastest()
	return until, err
}

// search is a search for a gossip time that ends with a context, and keeps each time that it has
// tried.
func (e *experiment) search(ctx context.Context, step string, c logp.Case) *logp.GossipSearch {
	c.Gossip.Seed = e.seedOf("search", 0)
	tried, done := 0, 0
	show := func() { e.progress(step, tried*e.SearchRuns+done, max(searchTimes, tried+1)*e.SearchRuns) }
	show()
	return &logp.GossipSearch{
		Case: c, Runs: e.SearchRuns, Workers: e.Workers,
		Progress: func() error { done++; show(); return context.Cause(ctx) },
		Try: func(until proto.Time, run func() (proto.Time, error)) (proto.Time, error) {
			sum, err := pieces.Once(ctx, e.store, fmt.Sprintf("%s: %d", step, until), run)
			tried, done = tried+1, 0
			show()
			return sum, err
		},
	}
}

// repeat gossips again and again, without dead processes.
func (e *experiment) repeat(ctx context.Context, step string, c logp.Case) ([]logp.Outcome, error) {
	engines := make([]logp.Simulator, e.Workers)
	return each(ctx, e, step, e.EngineRuns, func(worker, i int) (logp.Outcome, error) {
		c := c
		c.Gossip.Seed = e.seedOf("gossip", i)
		return engines[worker].Run(&c, nil)
	})
}

// highRate is the share of dead processes, in percent, at which gossip may be faster than an
// optimal tree, section 4.3.
const highRate = 10

// gossipStudy is Corrected Gossip with checked correction and dead processes.
type gossipStudy struct {
	fixed    map[int]*gossipFaults     // by the number of dead: the time is the best one without faults
	adapted  map[float64]*gossipFaults // by the rate: the time is the best one at this rate
	highTree sample                    // quiescence of the optimal tree at highRate
}

type gossipFaults struct {
	time                 int
	quiescence, messages sample
}

func (e *experiment) studyGossip(ctx context.Context, s *studies) error {
	study := gossipStudy{adapted: map[float64]*gossipFaults{}}
	c := gossipCase(e.Procs, broadcast.Checked, 0)
	best, err := e.fastest(ctx, "gossip", c)
	if err != nil {
		return err
	}
	all := e.deadCounts()
	if study.fixed, err = e.gossipFaults(ctx, "gossip", stepGossipFaults, best, all); err != nil {
		return err
	}
	for _, rate := range slices.Concat(rates, []float64{highRate}) {
		dead := deadAt(rate, e.Procs)
		about := gossipDeadStep(dead)
		searched := c
		if err := searched.FailRandom(dead, rand.NewPCG(e.seedOf("dead", 0), 0)); err != nil {
			return err
		}
		until, err := e.fastest(ctx, about, searched)
		if err != nil {
			return err
		}
		found, err := e.gossipFaults(ctx, fmt.Sprintf("gossip-adapted-%d", dead), about, until, []int{dead})
		if err != nil {
			return err
		}
		study.adapted[rate] = found[dead]
	}
	study.highTree = sample{}
	fields := fmt.Sprintf("runs: %d\nprocs: %d\ntree: %s\ncorrection: checked\nstart: synchronized\nfailed: %d\n",
		e.highRuns(), e.Procs, trees[len(trees)-1].spec, deadAt(highRate, e.Procs))
	err = e.campaign(ctx, "optimal-high", stepHigh, fields, func(r *result) error {
		study.highTree[r.quiescence]++
		return nil
	})
	s.gossip = study
	return err
}

// highRuns is how many broadcasts of the optimal tree stand beside gossip's EngineRuns at highRate:
// so many that the interval of their mean hardly counts beside gossip's.
func (e *experiment) highRuns() int { return 10 * e.EngineRuns }

// gossipFaults gossips for a time, with each of some numbers of dead processes.
func (e *experiment) gossipFaults(ctx context.Context, name, step string, until proto.Time, dead []int) (map[int]*gossipFaults, error) {
	found := map[int]*gossipFaults{}
	for _, d := range dead {
		found[d] = &gossipFaults{int(until), sample{}, sample{}}
	}
	fields := fmt.Sprintf("runs: %d\nprocs: %d\ntree: gossip:%d\ncorrection: checked\nstart: synchronized\nfailed: %s\n", e.EngineRuns, e.Procs, until, list(dead))
	err := e.campaign(ctx, name, step, fields, func(r *result) error {
		found[r.dead].quiescence[r.quiescence]++
		found[r.dead].messages[r.messages]++
		return nil
	})
	return found, err
}

// at is gossip with the time that is best without faults, at a fault rate.
func (s *gossipStudy) at(rate float64, procs int) *gossipFaults { return s.fixed[deadAt(rate, procs)] }
