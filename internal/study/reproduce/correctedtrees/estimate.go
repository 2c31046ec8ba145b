package correctedtrees

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// searchTimes is roughly how many gossip times a search for the fastest tries.
const searchTimes = 10

// Step is a part of a [Run], by the name that [Progress] has for it.
type Step struct {
	Name  string
	Takes time.Duration // roughly, with the parameters' workers, if nothing of it is kept
}

// Estimate returns the steps of a Run, in their order, and how long each takes on this machine. It
// simulates some broadcasts of each kind to find out, which takes some seconds. progress may be
// nil.
func Estimate(p Parameters, progress Progress) ([]Step, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e := &experiment{Parameters: p}
	m := meter{procs: p.Procs}
	if total := 2*(len(rates)+len(e.allDeaths())) + 6; progress != nil {
		m.measured = func() { m.done++; progress("measuring this machine", m.done, total) }
	}
	var steps []Step
	add := func(name string, runs float64, d time.Duration) {
		steps = append(steps, Step{name, time.Duration(runs*float64(d)) / time.Duration(p.Workers)})
	}
	perTree := float64(len(trees))
	engine, gossip, safety := m.engine(trees[0].broadcastCase(p.Procs, optimised(distances[0]))), m.gossip(), m.safety()
	searched, repeated := float64(searchTimes*p.SearchRuns), float64(p.EngineRuns)

	shares := 0.0
	for _, procs := range p.Sizes {
		shares += float64(procs) / float64(p.Procs)
	}
	add(stepFaultFree, perTree*float64(4+1+len(distances))*shares, engine)
	for _, procs := range p.Sizes {
		share, about := float64(procs)/float64(p.Procs), gossipStep(procs)
		add(about+stepSearch, searched*share, gossip)
		add(about+stepFastest, repeated*share, gossip)
		add(about+stepSafety, float64(e.safeRuns(procs))*share, safety)
		for _, d := range distances {
			add(about+stepSafe(d), repeated*share, gossip)
		}
	}
	for _, n := range []topology.Numbering{topology.Interleaved, topology.InOrder} {
		add(stepOneDead(n), float64(p.Procs), m.checked(n, 1))
	}
	both := time.Duration(0)
	for _, dead := range e.allDeaths() {
		both += m.checked(topology.Interleaved, dead) + m.checked(topology.InOrder, dead)
	}
	add(stepNumberings, float64(p.NumberingRuns)*(1+1.0/4+1.0/16), both)
	correct, reach := time.Duration(0), time.Duration(0)
	lowest := m.checked(topology.Interleaved, deadBelow(lowest(), p.Procs))
	for _, rate := range rates {
		correct, reach = correct+m.checked(topology.Interleaved, deadAt(rate, p.Procs)), reach+m.reach(deadAt(rate, p.Procs))
	}
	add(stepChecked, perTree*float64(p.Runs), correct)
	add(stepRoundedDown, perTree*float64(p.Runs), lowest)
	add(stepUncoloured, perTree*float64(p.Runs), reach)
	add(stepOpportunistic, perTree*float64(len(rates)*len(distances))*repeated, engine)
	add("gossip"+stepSearch, searched, gossip)
	add(stepGossipFaults, float64(len(rates))*repeated, gossip)
	for _, rate := range slices.Concat(rates, []float64{highRate}) {
		about := gossipDeadStep(deadAt(rate, p.Procs))
		add(about+stepSearch, searched, gossip)
		add(about, repeated, gossip)
	}
	add(stepHigh, float64(e.highRuns()), m.checked(topology.Interleaved, deadAt(highRate, p.Procs)))
	return steps, m.err
}

// Names of steps.
const (
	stepFaultFree     = "trees without faults"
	stepNumberings    = "in order and interleaved"
	stepChecked       = "checked correction"
	stepRoundedDown   = "lowest rate, rounded down"
	stepUncoloured    = "opportunistic correction: who is left"
	stepOpportunistic = "opportunistic correction"
	stepGossipFaults  = "gossip with faults"
	// These follow what they are of.
	stepSearch  = ": fastest time"
	stepFastest = ": the fastest"
	stepSafety  = ": time that is safe"
)

var stepHigh = fmt.Sprintf("optimal tree, %d %% dead", highRate)

func gossipStep(procs int) string    { return fmt.Sprintf("gossip, %d processes", procs) }
func gossipDeadStep(dead int) string { return fmt.Sprintf("gossip, %d dead", dead) }
func stepSafe(distance int) string   { return fmt.Sprintf(": the safe one, distance %d", distance) }
func stepOneDead(n topology.Numbering) string {
	return "one dead process, " + numberingNames[n.String()]
}

// meter measures broadcasts to so many processes, on one core.
type meter struct {
	procs    int
	s        logp.Simulator
	err      error
	done     int    // kinds of broadcasts
	measured func() // is called after each, if it isn't nil
}

// time is how much processor time a function takes once it is warm: a machine that does much else
// needn't always do so.
func (m *meter) time(f func() error) time.Duration {
	if m.measured != nil {
		defer m.measured()
	}
	for range 2 {
		begin := processorTime()
		if err := f(); err != nil && m.err == nil {
			m.err = err
		}
		if d := processorTime() - begin; m.err != nil || d > time.Second {
			return d
		}
	}
	const times = 3
	begin := processorTime()
	for range times {
		if err := f(); err != nil && m.err == nil {
			m.err = err
		}
	}
	return (processorTime() - begin) / times
}

// processorTime is what this process has used, or 0 if the machine doesn't tell.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (m *meter) checked(n topology.Numbering, dead int) time.Duration {
	c := trees[0].broadcastCase(m.procs, checked)
	c.Numbering = n
	evaluator, err := incremental.New(&c)
	if err != nil {
		m.err = err
		return 0
	}
	seed := uint64(0)
	return m.time(func() error {
		seed++
		c := c
		if err := c.FailRandom(min(dead, m.procs-1), rand.NewPCG(seed, 0)); err != nil {
			return err
		}
		_, err := evaluator.Run(c.Failed)
		return err
	})
}

func (m *meter) reach(dead int) time.Duration {
	shape, err := trees[0].shape(m.procs)
	if err != nil {
		m.err = err
		return 0
	}
	r := newReach(&shape)
	return m.time(func() error {
		c := logp.Case{Procs: m.procs}
		err := c.FailRandom(dead, rand.NewPCG(1, 0))
		r.unreached(nil, c.Failed, distances)
		return err
	})
}

func (m *meter) engine(c logp.Case) time.Duration {
	return m.time(func() error { _, err := m.s.Run(&c, nil); return err })
}

// safety is a run of gossip alone, which tells what is safe.
func (m *meter) safety() time.Duration {
	var w gossipWorker
	w.init(m.procs)
	return m.time(func() error { w.run(int(2.8*math.Log2(float64(m.procs))), 1); return nil })
}

// gossip is with a time near the fastest, which is a little less than an optimal tree's.
func (m *meter) gossip() time.Duration {
	end, err := trees[len(trees)-1].disseminationEnd(&m.s, m.procs, topology.Interleaved)
	if err != nil {
		m.err = err
		return 0
	}
	c := gossipCase(m.procs, broadcast.Checked, 0)
	c.Gossip.Until = max(1, end-proto.Time(latency+overhead))
	return m.engine(c)
}
