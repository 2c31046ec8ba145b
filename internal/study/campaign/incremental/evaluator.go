package incremental

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
)

// ErrNotCovered is wrapped by the errors of [New] for a valid case that only the engine can run.
var ErrNotCovered = errors.New("not covered by incremental evaluation")

// Evaluator evaluates broadcasts that differ only in their dead processes, one after the other.
// It isn't safe for concurrent use.
type Evaluator struct {
	// Listener, if set, is told of each broadcast when it is over.
	Listener logp.Listener

	procs             int32
	latency, overhead proto.Time
	delay             int32      // D: slots from a receive to the first send that it bears on
	regular           int32      // how many slots are regular: D, or D+1
	start             proto.Time // T: when correction starts
	fixed             faultFree

	run
	// observe, if set by a test, sees every message of an irregular slot;
	// received is -1 at a dead process.
	observe func(sent, received, from, to int32, left bool)
}

// New returns an evaluator of a case, whatever its Failed. The error wraps [ErrNotCovered], or is
// that of Validate.
func New(c *logp.Case) (*Evaluator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	// Everything else that a Case may say changes the broadcast, fields that are added later too.
	covered := logp.Case{
		Procs: c.Procs, Latency: c.Latency, Overhead: c.Overhead,
		Tree: c.Tree, K: c.K, Numbering: c.Numbering,
		Correction: broadcast.Checked, Synchronised: true, Failed: c.Failed,
	}
	given := *c
	if len(given.Crashes) == 0 {
		given.Crashes = nil
	}
	if !reflect.DeepEqual(covered, given) {
		return nil, fmt.Errorf("%w: want synchronised checked correction, processes dead from the start and nothing else", ErrNotCovered)
	}
	delay := 2 + (c.Latency+c.Overhead-1)/c.Overhead
	if c.Procs < delay+1 {
		return nil, fmt.Errorf("%w: %d processes, want at least %d for L = %d, o = %d", ErrNotCovered, c.Procs, delay+1, c.Latency, c.Overhead)
	}
	tree, err := treeOf(c)
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		procs:   int32(c.Procs),
		latency: proto.Time(c.Latency), overhead: proto.Time(c.Overhead),
		delay: int32(delay), regular: int32(delay + 1 - delay%2),
	}
	e.fixed.walk(tree, e.latency, e.overhead)
	e.start = e.fixed.end
	e.run.init(c.Procs)
	return e, nil
}

func treeOf(c *logp.Case) (topology.Tree, error) {
	switch c.Tree {
	case logp.Binomial:
		return topology.Binomial(c.Procs, c.Numbering)
	case logp.KAry:
		return topology.KAry(c.Procs, c.K, c.Numbering)
	case logp.Lame:
		return topology.Lame(c.Procs, c.K, c.Numbering)
	case logp.Optimal:
		return topology.Optimal(c.Procs, c.Latency, c.Overhead, c.Numbering)
	}
	return topology.Tree{}, fmt.Errorf("%w: tree %q", ErrNotCovered, c.Tree)
}

// Run evaluates the broadcast in which these processes are dead from the start.
func (e *Evaluator) Run(failed []int) (logp.Outcome, error) {
	if !slices.IsSorted(failed) {
		failed = slices.Sorted(slices.Values(failed))
	}
	if n := len(failed); n > 0 && (failed[0] < 1 || failed[n-1] >= int(e.procs)) {
		return logp.Outcome{}, fmt.Errorf("failed: want 1 to %d, not %d to %d", e.procs-1, failed[0], failed[n-1])
	}
	e.reset()
	if e.Listener != nil && e.colouredIn == nil {
		e.colouredIn = make([]int32, e.procs)
	}
	e.disseminate(failed)
	e.findGaps()
	e.endOfRegular()
	e.play()
	o := e.outcome()
	if e.Listener != nil {
		e.tellListener(failed, o)
	}
	return o, nil
}

func (e *Evaluator) outcome() logp.Outcome {
	o := logp.Outcome{
		Messages:   e.treeMessages + int(e.participants)*int(e.regular) + e.played,
		Unreached:  int(e.unreached),
		MaxGap:     int(e.maxGap),
		Quiescence: max(e.handled(e.lastReceived), e.handled(e.lastDropped)-e.overhead),
	}
	if e.lastColoured >= 0 {
		o.Coloring = e.handled(e.lastColoured)
	} else {
		o.Coloring = e.disseminated()
	}
	return o
}

// disseminated is when the last participant is coloured.
func (e *Evaluator) disseminated() (latest proto.Time) {
	for _, p := range e.fixed.last {
		if e.cells[p].state >= inside {
			return e.fixed.end
		}
	}
	for p, at := range e.fixed.at {
		if at > latest && e.cells[p].state >= inside {
			latest = at
		}
	}
	return latest
}

// handled is when the message received in a slot is handled. Slot -1 stands for no message: its
// time is earlier than all others.
func (e *Evaluator) handled(slot int32) proto.Time {
	if slot < 0 {
		return math.MinInt64 / 2
	}
	return e.start + proto.Time(slot+2)*e.overhead + e.latency
}
