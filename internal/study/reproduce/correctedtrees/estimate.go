package correctedtrees

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// searchTimes is roughly how many gossip times a search for the fastest tries.
const searchTimes = 10

// Estimate is roughly how long a Run takes on this machine, if no part of it is done already. It
// simulates some broadcasts of each kind to find out, which takes some seconds. progress may be
// nil.
func Estimate(p Parameters, progress Progress) (time.Duration, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	m := meter{procs: p.Procs}
	if total := 2*(len(rates)+len(p.Deaths)+len(paperDeaths)) + 4; progress != nil {
		m.measured = func() { m.done++; progress("measuring this machine", m.done, total) }
	}
	perTree := float64(len(trees))
	total := time.Duration(0)
	add := func(runs float64, d time.Duration) { total += time.Duration(runs * float64(d)) }
	for _, rate := range rates {
		both := m.checked(topology.Interleaved, deadAt(rate, p.Procs)) + m.reach(deadAt(rate, p.Procs))
		add(perTree*float64(p.Runs), both)
	}
	for _, dead := range slices.Concat(p.Deaths, paperDeaths) {
		both := m.checked(topology.Interleaved, dead) + m.checked(topology.InOrder, dead)
		add(float64(p.NumberingRuns)*(1+1.0/4+1.0/16), both)
	}
	add(perTree*float64(len(rates)*len(distances)*p.EngineRuns), m.engine(trees[0].broadcastCase(p.Procs, optimised(distances[0]))))
	add(2*float64(p.Procs), m.checked(topology.InOrder, 1))                            // each process dead once
	gossips := float64((len(rates) + 1) * (searchTimes*p.SearchRuns + 2*p.EngineRuns)) // with faults
	safeties := 0.0
	for _, procs := range p.Sizes {
		safe := p.SafeRuns
		if procs < p.Procs {
			safe /= 10
		}
		share := float64(procs) / float64(p.Procs)
		gossips += float64(searchTimes*p.SearchRuns+(1+len(distances))*p.EngineRuns) * share
		safeties += float64(safe) * share
	}
	add(gossips, m.gossip())
	add(safeties, m.safety())
	return total / time.Duration(p.Workers), m.err
}

// meter measures broadcasts to so many processes, on one core.
type meter struct {
	procs    int
	s        logp.Simulator
	err      error
	done     int    // kinds of broadcasts
	measured func() // is called after each, if it isn't nil
}

// time is how long a function takes once it is warm.
func (m *meter) time(f func() error) time.Duration {
	if m.measured != nil {
		defer m.measured()
	}
	for range 2 {
		begin := time.Now()
		if err := f(); err != nil && m.err == nil {
			m.err = err
		}
		if d := time.Since(begin); m.err != nil || d > time.Second {
			return d
		}
	}
	const times = 3
	begin := time.Now()
	for range times {
		if err := f(); err != nil && m.err == nil {
			m.err = err
		}
	}
	return time.Since(begin) / times
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
	if err := w.init(m.procs); err != nil {
		m.err = err
		return 0
	}
	return m.time(func() error { _, err := w.run(int(2.8*math.Log2(float64(m.procs))), 1); return err })
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
