package failuredetector

import (
	"errors"
	"fmt"

	"banyan/internal/study/detection/stabilisation"
)

// Parameters say how much is simulated. The paper's fixed values aren't among them.
type Parameters struct {
	Mode    string // what the report calls them
	Seed    uint64
	Workers int // without influence on the results

	Sizes []int // of figures 4 and 5, ascending
	Runs  int   // of the abstraction for each point; the paper: 10,000
	// Machines are the sizes at which the machines run, and how often.
	Machines []Share
	// Probed are the sizes of figures 6 and 7, ProbingRuns the rounds drawn for each; the paper:
	// 10,000.
	Probed      []int
	ProbingRuns int
	// Several are the sizes of figure 10, and how often the machines run each point; the paper: 30.
	Several []SeveralShare
	// Quiet is the number of nodes whose heartbeats are counted in a quiet system.
	Quiet int
}

// Share is how often the machines run a point of figures 4a and 4b, and of figure 5.
type Share struct{ Nodes, Forced, Random int }

// SeveralShare is how often the machines run a point of figure 10.
type SeveralShare struct{ Nodes, Runs int }

// fullSize is the paper's largest platform.
const fullSize = 256000

// Quick takes some seconds, and shows that everything works.
func Quick() Parameters {
	return Parameters{
		Mode: "quick", Seed: 1, Runs: 1000, Sizes: append(powers(4, 16, 2), fullSize),
		Machines: []Share{{16, 50, 50}, {64, 20, 20}, {256, 10, 10}, {1024, 3, 10}, {4096, 1, 2}},
		Probed:   []int{1000, 20000, 100000}, ProbingRuns: 100, Quiet: 100000,
		Several: []SeveralShare{{64, 5}, {512, 3}},
	}
}

// Default takes minutes: the abstraction as often as the paper, the machines once or twice at
// full size.
func Default() Parameters {
	return Parameters{
		Mode: "default", Seed: 1, Runs: 10000, Sizes: append(powers(4, 17, 1), fullSize),
		Machines: []Share{{16, 200, 200}, {64, 100, 100}, {256, 50, 50}, {1024, 20, 20}, {4096, 10, 10}, {16384, 4, 10}, {fullSize, 1, 2}},
		Probed:   []int{1000, 2000, 5000, 10000, 20000, 50000, 100000}, ProbingRuns: 1000, Quiet: 100000,
		Several: []SeveralShare{{64, 30}, {256, 30}, {1024, 30}, {4096, 10}},
	}
}

// Full takes three quarters of an hour of one core: the machines some thousands of times, of which
// twenty at full size.
func Full() Parameters {
	p := Default()
	p.Mode, p.ProbingRuns = "full", 10000
	p.Machines = []Share{
		{16, 1000, 1000}, {64, 500, 500}, {256, 200, 200}, {1024, 100, 100}, {4096, 50, 50}, {16384, 20, 40}, {65536, 5, 10},
		{fullSize, 3, 10},
	}
	p.Probed = append(p.Probed, fullSize)
	p.Several = []SeveralShare{{64, 30}, {256, 30}, {1024, 30}, {4096, 30}, {6000, 10}}
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

// Validate returns an error for parameters that make no sense.
func (p *Parameters) Validate() error {
	switch {
	case p.Workers < 1:
		return fmt.Errorf("workers: %d: want at least 1", p.Workers)
	case p.Runs < 2 || p.ProbingRuns < 2:
		return errors.New("runs: want 2 at least, for a spread")
	case len(p.Sizes) < 4 || len(p.Machines) == 0 || len(p.Probed) == 0:
		return errors.New("sizes: want 4 at least for the fits, and some for machines and probing")
	}
	for _, n := range p.Sizes {
		if n < 8 || n > stabilisation.MaxNodes {
			return fmt.Errorf("sizes: %d: want 8 to %d", n, stabilisation.MaxNodes)
		}
	}
	for _, m := range p.Machines {
		if m.Nodes < 8 || m.Nodes > stabilisation.MaxNodes || m.Forced < 1 || m.Random < 1 || max(m.Forced, m.Random) > p.Runs {
			return fmt.Errorf("machines: %+v: want 8 nodes at least, and 1 to %d runs", m, p.Runs)
		}
	}
	for _, m := range p.Several {
		if m.Nodes < 32 || m.Nodes > stabilisation.MaxNodes || m.Runs < 2 {
			return fmt.Errorf("several victims: %+v: want 32 nodes at least, and 2 runs", m)
		}
	}
	return nil
}
