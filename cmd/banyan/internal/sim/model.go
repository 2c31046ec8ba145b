package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/pflag"

	"banyan/internal/study/driver/logp"
)

// modelFlags are the flags for what goes beyond plain LogP and beyond processes that are dead
// from the start.
type modelFlags struct {
	crashes     string
	model       logp.Model
	placement   string
	failedNodes int
	crashCount  int
}

// modelFlagNames are those that have no meaning with a table.
var modelFlagNames = []string{
	"crash", "crash-count", "gap", "node-size", "placement", "latency-within", "failed-nodes", "noise",
}

func (m *modelFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.crashes, "crash", "", "processes that die on the way, as in `\"kill rank=3 at=step:12; kill rank=5 at=send:2\"`")
	flags.IntVar(&m.crashCount, "crash-count", 0, "so many more that die on the way, and when, chosen at random")
	flags.IntVar(&m.model.Gap, "gap", 0, "gap `g` between sends, and between receives, of a process; 0 is the overhead")
	flags.IntVar(&m.model.Nodes.Size, "node-size", 0, "processes of a node; 0: no nodes")
	flags.StringVar(&m.placement, "placement", logp.Consecutive.String(), "of processes on nodes: consecutive, shuffled (by the seed) or striped")
	flags.IntVar(&m.model.LatencyWithin, "latency-within", 0, "latency within a node, in steps")
	flags.IntVar(&m.failedNodes, "failed-nodes", 0, "so many dead nodes, chosen at random; not the root's")
	flags.IntVar(&m.model.Noise, "noise", 0, "up to so many steps more for each message, chosen at random")
}

// apply sets a valid case as the flags say.
func (m *modelFlags) apply(c *logp.Case, seed uint64) error {
	var err error
	c.Model = m.model
	if c.Model.Nodes.Placement, err = logp.ParsePlacement(m.placement); err != nil {
		return fmt.Errorf("--placement: %w", err)
	}
	if c.Model.Nodes.Placement == logp.Shuffled {
		c.Model.Nodes.Seed = seed
	}
	if c.Model.Noise != 0 {
		c.Model.NoiseSeed = seed
	}
	if c.Crashes, err = logp.ParseCrashes(m.crashes, c.Procs); err != nil {
		return fmt.Errorf("--crash: %w", err)
	}
	if m.failedNodes != 0 {
		if err := c.FailNodes(m.failedNodes, rand.NewPCG(seed, 1)); err != nil {
			return flagError(err)
		}
	}
	if m.crashCount != 0 {
		until, err := new(logp.Simulator).Undisturbed(*c)
		if err != nil {
			return flagError(err)
		}
		if err := c.CrashRandom(m.crashCount, until, rand.NewPCG(seed, 2)); err != nil {
			return fmt.Errorf("--crash-count: %w", err)
		}
	}
	return flagError(c.Validate())
}
