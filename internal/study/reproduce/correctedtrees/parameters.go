package correctedtrees

import (
	"fmt"
	"math"
)

// The paper's network, section 4.
const (
	latency  = 2 // L, in steps
	overhead = 1 // o
)

// fanOut and order are of the k-ary and the Lamé tree.
const (
	fanOut = 4
	order  = 2
)

// rates are the shares of dead processes of section 4.3, in percent.
var rates = []float64{0.01, 0.1, 1, 2, 4}

// paperDeaths are the numbers of dead processes of figure 1b.
var paperDeaths = []int{1, 2, 5}

// distances are those of opportunistic correction. The text says 4 in each direction; its
// results fit 2 (docs/design/papers.md, and the report).
var distances = []int{2, 4}

// Parameters say how much is simulated. The paper's fixed values aren't among them.
type Parameters struct {
	Mode    string // what the report calls them
	Seed    uint64
	Workers int // without influence on the results

	Procs      int // of all broadcasts with dead processes
	Runs       int // of each tree and fault rate, checked correction; the paper: 100,000
	EngineRuns int // of each point that the event-driven engine must run
	Sizes      []int
	// Deaths are more numbers of dead processes than those of figure 1b, NumberingRuns the
	// broadcasts for each.
	Deaths        []int
	NumberingRuns int
	// SearchRuns are broadcasts for each gossip time that is tried for lowest latency, and
	// SafeRuns those of which none may leave a process uncoloured; the paper: 100,000.
	SearchRuns, SafeRuns int
}

// Quick takes some seconds, and shows that everything works.
func Quick() Parameters {
	return Parameters{
		Mode: "quick", Seed: 1, Procs: 1 << 16, Runs: 100, EngineRuns: 10, Sizes: powers(6, 16, 2),
		Deaths: []int{16, 64, 256}, NumberingRuns: 50, SearchRuns: 4, SafeRuns: 20,
	}
}

// Default takes some minutes, and states how certain each figure is.
func Default() Parameters {
	return Parameters{
		Mode: "default", Seed: 1, Procs: 1 << 16, Runs: 1000, EngineRuns: 100, Sizes: powers(6, 16, 1),
		Deaths: []int{10, 20, 50, 100, 200, 500}, NumberingRuns: 1000, SearchRuns: 20, SafeRuns: 1000,
	}
}

// Full is the paper's where rare broadcasts count: 100,000 of each tree and fault rate, and of
// gossip of which none may leave anybody uncoloured. Of the rest only means are used, which 250
// broadcasts give to a few thousandths.
func Full() Parameters {
	p := Default()
	p.Mode, p.Runs, p.EngineRuns, p.NumberingRuns, p.SearchRuns, p.SafeRuns = "full", 100_000, 250, 10_000, 50, 100_000
	return p
}

// powers are those of two, from 2^low to 2^high.
func powers(low, high, step int) []int {
	var all []int
	for e := low; e <= high; e += step {
		all = append(all, 1<<e)
	}
	return all
}

// deadAt is the number of dead processes at a rate in percent: rounded, as campaigns
// do it, so that 0.01 % of 65,536 is 7.
func deadAt(rate float64, procs int) int {
	return int(math.Round(rate / 100 * float64(procs)))
}

// deadBelow is the same, rounded down.
func deadBelow(rate float64, procs int) int { return int(rate / 100 * float64(procs)) }

// Validate returns an error for parameters that make no sense.
func (p *Parameters) Validate() error {
	switch {
	case p.Workers < 1:
		return fmt.Errorf("workers: %d: want at least 1", p.Workers)
	case p.Procs < 1024 || p.Procs > 1<<20:
		return fmt.Errorf("procs: %d: want 1,024 to 2^20", p.Procs)
	case min(p.Runs, p.EngineRuns, p.NumberingRuns, p.SearchRuns, p.SafeRuns) < 1:
		return fmt.Errorf("runs: want at least 1 of each kind")
	case len(p.Sizes) == 0 || len(p.Deaths) == 0:
		return fmt.Errorf("sizes and deaths: want one at least")
	}
	return nil
}
