package logp

import (
	"fmt"
	"math"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/field"
	"banyan/internal/topology"
)

// MaxProcs is the largest simulation: some 80 bytes for each process.
const MaxProcs = 1 << 24

// TreeKind is the shape of a dissemination tree.
type TreeKind string

// Shapes; gossip has none.
const (
	Binomial TreeKind = "binomial"
	KAry     TreeKind = "kary"
	Lame     TreeKind = "lame"
	Optimal  TreeKind = "optimal"
	Gossip   TreeKind = "gossip" // to processes chosen at random, as Case.Gossip says
)

// NeedsK says whether a shape has a parameter k.
func (k TreeKind) NeedsK() bool { return k == KAry || k == Lame }

// Case is one broadcast to be simulated.
type Case struct {
	Procs             int
	Latency, Overhead int // L ≥ 0 and o ≥ 1, in steps
	Tree              TreeKind
	K                 int // of k-ary and Lamé trees, else 0
	Numbering         topology.Numbering
	Gossip            broadcast.Gossip // if that is the Tree, else nothing
	Correction        broadcast.Correction
	// Distance is the distance of optimised and opportunistic correction, else 0. If Unequal it
	// is the distance to the right only, and LeftDistance is that to the left; one of them may
	// be 0.
	Distance     int
	Unequal      bool
	LeftDistance int
	Delay        int // of delayed correction, in steps, else 0
	// Synchronised correction starts at the fault-free end of dissemination; after gossip, when
	// that can colour no further process.
	Synchronised bool
	Failed       []int // dead from the start: 1…Procs-1; the root is live
	Crashes      []Crash
	Model        Model
}

// Validate returns a *field.Error if the case can't be run.
func (c *Case) Validate() error {
	_, _, err := c.prepare()
	return err
}

// prepare makes what a run needs from a case, and so finds errors in it.
func (c *Case) prepare() (broadcast.Config, Set, error) {
	var config broadcast.Config
	switch {
	case c.Procs < 1 || c.Procs > MaxProcs:
		return config, nil, field.Errorf("procs", "%d: want 1 to %d", c.Procs, MaxProcs)
	case c.Latency < 0 || c.Latency > math.MaxInt32:
		return config, nil, field.Errorf("L", "latency %d: want 0 to %d", c.Latency, math.MaxInt32)
	case c.Overhead < 1 || c.Overhead > math.MaxInt32:
		return config, nil, field.Errorf("o", "overhead %d: want 1 to %d", c.Overhead, math.MaxInt32)
	case c.Tree == KAry && c.K < 2: // 1 would be a chain
		return config, nil, field.Errorf("k", "%d: a kary tree wants at least 2", c.K)
	case c.Tree == Lame && c.K < 1: // 1 is binomial
		return config, nil, field.Errorf("k", "%d: a lame tree wants at least 1", c.K)
	case !c.Tree.NeedsK() && c.K != 0:
		return config, nil, field.Errorf("k", "%d: a %s tree has none", c.K, c.Tree)
	case c.Synchronised && !c.Correction.Corrects():
		return config, nil, field.Errorf("start", "correction %s has no start to synchronise", c.Correction)
	case c.Delay < 0 || c.Delay > math.MaxInt32:
		return config, nil, field.Errorf("delay", "%d: want 0 to %d", c.Delay, math.MaxInt32)
	case c.Correction != broadcast.Delayed && c.Delay != 0:
		return config, nil, field.Errorf("delay", "%d: correction %s has none", c.Delay, c.Correction)
	}
	tree, err := c.tree()
	if err != nil {
		return config, nil, field.Wrap("tree", err)
	}
	if err := c.validateDistance(); err != nil {
		return config, nil, err
	}
	if err := c.validateGossip(); err != nil {
		return config, nil, err
	}
	if err := c.Model.validate(c); err != nil {
		return config, nil, err
	}
	config = broadcast.Config{
		Tree: tree, Gossip: c.Gossip, Correction: c.Correction, Synchronised: c.Synchronised,
		Distance: c.Distance, Unequal: c.Unequal, LeftDistance: c.LeftDistance, Delay: proto.Time(c.Delay),
	}
	if c.Synchronised && c.Tree == Gossip {
		config.CorrectAt = c.gossipEnd()
	}
	if err := config.Validate(); err != nil {
		return config, nil, field.Wrap("distance", err) // all else has been checked above
	}
	failed := NewSet(c.Procs)
	for _, f := range c.Failed {
		if f == 0 {
			return config, nil, field.Errorf("failed", "0 is the root, which must live")
		}
		if f < 0 || f >= c.Procs {
			return config, nil, field.Errorf("failed", "%d: want 1 to %d", f, c.Procs-1)
		}
		failed.Add(f)
	}
	for _, crash := range c.Crashes {
		if err := crash.validate(c.Procs); err != nil {
			return config, nil, field.Wrap("crashes", err)
		}
	}
	return config, failed, nil
}

func (c *Case) tree() (topology.Tree, error) {
	switch c.Tree {
	case Binomial:
		return topology.Binomial(c.Procs, c.Numbering)
	case KAry:
		return topology.KAry(c.Procs, c.K, c.Numbering)
	case Lame:
		return topology.Lame(c.Procs, c.K, c.Numbering)
	case Optimal:
		return topology.Optimal(c.Procs, c.Latency, c.Overhead, c.Numbering)
	case Gossip: // any tree of so many processes
		return topology.Binomial(c.Procs, c.Numbering)
	}
	return topology.Tree{}, fmt.Errorf("unknown tree %q: want binomial, kary, lame, optimal or gossip", c.Tree)
}

// Describe describes the case in one line.
func (c *Case) Describe() string {
	var b strings.Builder
	plural := "es"
	if c.Procs == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%d process%s, ", c.Procs, plural)
	switch {
	case c.Tree == Gossip && c.Gossip.Rounds > 0:
		fmt.Fprintf(&b, "gossip for %d rounds", c.Gossip.Rounds)
	case c.Tree == Gossip:
		fmt.Fprintf(&b, "gossip until %d", c.Gossip.Until)
	case c.Tree.NeedsK():
		fmt.Fprintf(&b, "%s tree (k = %d, %v)", c.Tree, c.K, c.Numbering)
	default:
		fmt.Fprintf(&b, "%s tree (%v)", c.Tree, c.Numbering)
	}
	switch {
	case c.Correction == broadcast.NoCorrection:
		b.WriteString(", no correction")
	case c.Correction == broadcast.Acknowledged:
		b.WriteString(", acknowledged")
	case c.Correction == broadcast.Delayed:
		fmt.Fprintf(&b, ", delayed correction (by %d, %s)", c.Delay, c.startName())
	case c.Correction.HasDistance():
		fmt.Fprintf(&b, ", %v correction (distance %s, %s)", c.Correction, c.distance(), c.startName())
	default:
		fmt.Fprintf(&b, ", %v correction (%s)", c.Correction, c.startName())
	}
	fmt.Fprintf(&b, ", L = %d, o = %d", c.Latency, c.Overhead)
	if n := len(c.Failed); n > 0 {
		fmt.Fprintf(&b, ", %d dead", n)
	}
	if n := len(c.Crashes); n > 0 {
		fmt.Fprintf(&b, ", %d to crash", n)
	}
	return b.String()
}

// Caveat is a warning about a case that is valid but unusual, or "".
func (c *Case) Caveat() string {
	if c.Tree == Optimal && c.Numbering == topology.Interleaved && c.Overhead > 0 && c.Latency%c.Overhead != 0 {
		return fmt.Sprintf("o = %d doesn't divide L = %d: the optimal tree is numbered by time, but isn't interleaved in the sense of definition 1", c.Overhead, c.Latency)
	}
	return ""
}
