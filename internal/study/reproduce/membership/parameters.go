package membership

import (
	"errors"
	"fmt"

	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Parameters say how much is simulated, and what was measured.
type Parameters struct {
	Mode    string // what the report calls them
	Seed    uint64
	Workers int // without influence on the results

	Runs    int // of each point; the paper: 5
	Torus   int // the most nodes of figures 4 and 5, one of which dies
	Switch  int // those of figures 6 and 8
	Largest int // the most nodes of the simulations beyond the paper
	Faulty  int // runs of the protocol as printed

	// Contended is L under contention, measured on the machine at hand: figure 7. Nil: it wasn't.
	// ContendedFrom names its file, if it has one.
	Contended     *viewtime.Contended
	ContendedFrom string

	// Measured are stabilisation times of the machine at hand; there may be none. MeasuredBy says
	// how they were made, MeasuredFrom names their file, if they have one.
	Measured     []Measurement
	MeasuredBy   string
	MeasuredFrom string
}

// Measurement is one change of view that was measured.
type Measurement struct {
	Live, Arity int // members that agree on the new view, and their tree
	Stabilise   risk.Seconds
	Commit      risk.Seconds // until all had installed it
	Messages    int          // that the members sent for it
	// Busy is the share of all processors' time that the members used meanwhile.
	Busy float64
	// The times that the models give for this machine. Where the Parameters have a Contended, the
	// contention model is made of that instead.
	Base, Contention risk.Seconds
}

const (
	midplanes = 1024 // nodes of BlueGene/L, in the paper
	cluster   = 47   // nodes of the Linux cluster
)

// Quick takes seconds.
func Quick() Parameters {
	return Parameters{Mode: "quick", Seed: 1, Runs: 5, Torus: midplanes, Switch: cluster, Largest: 1 << 13, Faulty: 200}
}

// Default takes half a minute.
func Default() Parameters {
	p := Quick()
	p.Mode, p.Largest, p.Faulty = "default", 1<<17, 1000
	return p
}

// Full goes up to the largest group that can be simulated, and takes minutes, and 1 GB for each
// worker.
func Full() Parameters {
	p := Default()
	p.Mode, p.Largest, p.Faulty = "full", viewsim.MaxNodes, 10000
	return p
}

// Validate returns an error for parameters that make no sense.
func (p *Parameters) Validate() error {
	switch {
	case p.Workers < 1:
		return fmt.Errorf("workers: %d: want at least 1", p.Workers)
	case p.Runs < 2 || p.Faulty < 2:
		return errors.New("runs: want 2 at least, for a spread")
	case p.Torus < 64 || p.Torus > midplanes:
		return fmt.Errorf("torus: %d nodes: want 64 to %d", p.Torus, midplanes)
	case p.Switch < 24 || p.Switch > cluster:
		return fmt.Errorf("switch: %d nodes: want 24 to %d", p.Switch, cluster)
	case p.Largest < 64 || p.Largest > viewsim.MaxNodes:
		return fmt.Errorf("largest: %d nodes: want 64 to %d", p.Largest, viewsim.MaxNodes)
	}
	for i, m := range p.Measured {
		if m.Live < 1 || m.Arity < 2 || !(m.Stabilise >= 0) || !(m.Commit >= 0) || !(m.Base >= 0) || !(m.Contention >= 0) {
			return fmt.Errorf("measurement %d: %+v: want a tree and times", i+1, m)
		}
	}
	return nil
}
