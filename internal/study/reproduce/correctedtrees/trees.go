package correctedtrees

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// tree is one of the paper's dissemination trees.
type tree struct {
	name string // for people
	spec string // for campaigns
	kind logp.TreeKind
	k    int
}

// trees are in the paper's order. Their indices are their colours in all figures.
var trees = []tree{
	{"binomial", "binomial", logp.Binomial, 0},
	{fmt.Sprintf("%d-ary", fanOut), fmt.Sprintf("kary:%d", fanOut), logp.KAry, fanOut},
	{fmt.Sprintf("Lamé (k = %d)", order), fmt.Sprintf("lame:%d", order), logp.Lame, order},
	{"optimal", "optimal", logp.Optimal, 0},
}

// gossipLook is the colour of gossip, after those of the trees.
const gossipLook = 5

// correction is one of the ways in which a broadcast is made reliable.
type correction struct {
	name         string
	kind         broadcast.Correction
	distance     int
	synchronised bool
	oneWay       bool // corrections go to the right alone
}

var (
	plain        = correction{name: "dissemination alone", kind: broadcast.NoCorrection}
	acknowledged = correction{name: "acknowledged", kind: broadcast.Acknowledged}
	checked      = correction{name: "checked", kind: broadcast.Checked, synchronised: true}
	// single is the cheapest: a correction of each process, in one direction (figure 6's caption).
	single = correction{name: "optimized, one neighbour on one side", kind: broadcast.Optimised, distance: 1, oneWay: true}
)

// optimised is overlapped, as throughout the paper.
func optimised(distance int) correction { return opportunistic(broadcast.Optimised, distance) }

// opportunistic is one of the kinds of opportunistic correction, overlapped.
func opportunistic(kind broadcast.Correction, distance int) correction {
	return correction{name: fmt.Sprintf("%v, distance %d", kind, distance), kind: kind, distance: distance}
}

// broadcastCase is a broadcast along a tree, without dead processes.
func (t *tree) broadcastCase(procs int, c correction) logp.Case {
	return logp.Case{
		Procs: procs, Latency: latency, Overhead: overhead, Tree: t.kind, K: t.k,
		Correction: c.kind, Distance: c.distance, Unequal: c.oneWay, Synchronised: c.synchronised,
	}
}

// disseminationEnd is when the tree has coloured every process if none is dead, which is when
// synchronised correction starts.
func (t *tree) disseminationEnd(s *logp.Simulator, procs int, n topology.Numbering) (proto.Time, error) {
	c := t.broadcastCase(procs, plain)
	c.Numbering = n
	o, err := s.Run(&c, nil)
	return o.Coloring, err
}

// shape is the tree itself.
func (t *tree) shape(procs int) (topology.Tree, error) {
	switch t.kind {
	case logp.Binomial:
		return topology.Binomial(procs, topology.Interleaved)
	case logp.KAry:
		return topology.KAry(procs, t.k, topology.Interleaved)
	case logp.Lame:
		return topology.Lame(procs, t.k, topology.Interleaved)
	}
	return topology.Optimal(procs, latency, overhead, topology.Interleaved)
}

// faultFree is lemma 2, with the quotient rounded up (docs/design/papers.md): how long
// synchronised checked correction takes if no process is dead.
const (
	roundedUp = (latency + overhead - 1) / overhead // ⌈L/o⌉
	faultFree = 4*overhead + latency + roundedUp*overhead
)

// bounds are lemma 3's of the time of correction, with a longest gap.
func bounds(gap int) (low, high int) {
	if gap == 0 {
		return faultFree, faultFree
	}
	return faultFree + gap*overhead, faultFree + (2*gap+1)*overhead
}
