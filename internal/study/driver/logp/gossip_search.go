package logp

import (
	"sync"
	"sync/atomic"

	"banyan/internal/proto"
)

// GossipSearch finds by simulation how long a case should gossip. The results depend only on
// Case and Runs.
type GossipSearch struct {
	Case    Case // Tree is Gossip; the search sets its time
	Runs    int  // broadcasts for each time, with the seeds from Case.Gossip.Seed on
	Workers int  // how many run at once, at least 1
	// Progress, if set, is called after every broadcast, by one worker at a time. Its
	// error ends the search.
	Progress func() error
	// Try, if set, is called for each time that Fastest tries, and returns what run returns, the
	// sum of all latencies: it may keep that, and not call run again in a later search.
	Try func(until proto.Time, run func() (proto.Time, error)) (proto.Time, error)
}

// Fastest returns the time with the lowest average quiescence latency, the shortest of several,
// and that average.
//
// The average first falls with the time, as gaps shrink, then rises with it, as only gossip
// grows. The search begins at the time of an optimal tree and goes both ways until some steps
// in a row were no better.
func (g *GossipSearch) Fastest() (until proto.Time, latency float64, err error) {
	tree := g.Case
	tree.Tree, tree.Gossip = Optimal, Case{}.Gossip
	config, _, err := tree.prepare()
	if err != nil {
		return 0, 0, err
	}
	start := max(1, new(Simulator).walk(&config.Tree, newModel(&tree)))
	patience := proto.Time(3 * max(tree.Overhead, tree.Model.Gap)) // sends may be this far apart
	best, least := start, proto.Time(-1)                           // the sum of all latencies at best
	try := func(until proto.Time) error {
		run := func() (proto.Time, error) { return g.quiescence(until) }
		sum, err := proto.Time(0), error(nil)
		if g.Try != nil {
			sum, err = g.Try(until, run)
		} else {
			sum, err = run()
		}
		if err != nil {
			return err
		}
		if least < 0 || sum < least || sum == least && until < best {
			best, least = until, sum
		}
		return nil
	}
	for until := start; until <= best+patience; until++ {
		if err := try(until); err != nil {
			return 0, 0, err
		}
	}
	for until := start - 1; until >= max(1, best-patience); until-- {
		if err := try(until); err != nil {
			return 0, 0, err
		}
	}
	return best, float64(least) / float64(g.Runs), nil
}

// quiescence is the sum of all runs' quiescence latencies.
func (g *GossipSearch) quiescence(until proto.Time) (proto.Time, error) {
	var sum atomic.Int64
	err := g.each(func(s *Simulator, c *Case) error {
		c.Gossip.Until = until
		o, err := s.Run(c, nil)
		sum.Add(int64(o.Quiescence))
		return err
	})
	return proto.Time(sum.Load()), err
}

// Safe returns the shortest time with which no run leaves a live process
// uncoloured.
//
// It takes little more than one broadcast for each run. With one seed, gossip reaches in a
// longer time every process that it reaches in a shorter one, and synchronised correction that
// starts from more coloured processes colours no fewer. So a time that is enough for a seed
// need not be tried again for it.
func (g *GossipSearch) Safe() (until proto.Time, err error) {
	var shortest atomic.Int64
	shortest.Store(1)
	err = g.each(func(s *Simulator, c *Case) error {
		for needs := shortest.Load(); ; needs++ {
			c.Gossip.Until = proto.Time(needs)
			o, err := s.Run(c, nil)
			if err != nil {
				return err
			}
			if o.Unreached > 0 {
				continue
			}
			for known := shortest.Load(); known < needs && !shortest.CompareAndSwap(known, needs); {
				known = shortest.Load()
			}
			return nil
		}
	})
	return proto.Time(shortest.Load()), err
}

// each calls a function with the case of every run, and returns the first error.
func (g *GossipSearch) each(run func(*Simulator, *Case) error) error {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		mutex   sync.Mutex
		first   error
	)
	for range max(1, min(g.Workers, g.Runs)) {
		workers.Go(func() {
			var s Simulator
			c := g.Case
			for i := next.Add(1) - 1; i < int64(g.Runs); i = next.Add(1) - 1 {
				c.Gossip.Seed = g.Case.Gossip.Seed + uint64(i)
				err := run(&s, &c)
				mutex.Lock()
				if err == nil && g.Progress != nil {
					err = g.Progress()
				}
				if err != nil && first == nil {
					first = err
					next.Store(int64(g.Runs))
				}
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	return first
}
