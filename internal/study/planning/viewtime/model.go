package viewtime

import (
	"errors"
	"fmt"
	"math"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

// MaxNodes is the most nodes of a model.
const MaxNodes = 1 << 20

// Model is a platform.
type Model struct {
	Latency  risk.Seconds // L: half a round trip between neighbours
	Compute  risk.Seconds // Ocp: for a node to compute its new view
	Topology Topology
	// Contended is L under contention, measured: it takes the place of Latency in Stabilise. Nil:
	// there is none.
	Contended *Contended
	// Contention is c, fitted: the share of L by which a message of the widest level delays the
	// others.
	Contention float64
	// Overhead is o: between two sends of a node.
	Overhead risk.Seconds
}

// Validate returns a *field.Error for what makes no sense.
func (m *Model) Validate() error {
	switch {
	case !(m.Latency > 0) || math.IsInf(float64(m.Latency), 0):
		return field.Errorf("latency", "%v: want more than 0", m.Latency)
	case !(m.Compute >= 0) || math.IsInf(float64(m.Compute), 0):
		return field.Errorf("compute", "%v: want 0 or more", m.Compute)
	case !(m.Overhead >= 0) || math.IsInf(float64(m.Overhead), 0):
		return field.Errorf("overhead", "%v: want 0 or more", m.Overhead)
	}
	return nil
}

// ValidateTree returns a *field.Error if there can be no such tree.
func (m *Model) ValidateTree(nodes, arity int) error {
	room := m.Topology.Nodes()
	switch {
	case nodes < 1 || nodes > MaxNodes:
		return field.Errorf("nodes", "%d: want 1 to %d", nodes, MaxNodes)
	case room > 0 && nodes > room:
		return field.Errorf("nodes", "%d: a %v has room for %d", nodes, m.Topology, room)
	case arity < 2 || arity > MaxNodes || arity&(arity-1) != 0:
		return field.Errorf("arity", "%d: want a power of two from 2 to %d", arity, MaxNodes)
	}
	return m.Contended.check(arity)
}

// Base is T_s by equations 1 and 2.
func (m *Model) Base(nodes, arity int) risk.Seconds {
	h := Levels(nodes, arity)
	return 2*m.Latency*risk.Seconds(h-1) + m.Compute*risk.Seconds(h)
}

// Stabilise is T_s with the refinements. The arity must be one that ValidateTree takes.
func (m *Model) Stabilise(nodes, arity int) risk.Seconds {
	h := Levels(nodes, arity)
	latency := m.Latency
	if m.Contended != nil {
		latency = m.Contended.Latency(nodes, arity)
	}
	travel := 2 * latency * risk.Seconds(m.Topology.Hops(nodes, arity))
	return travel*risk.Seconds(1+m.Contention*float64(Widest(nodes, arity))) +
		m.Compute*risk.Seconds(h) + m.Overhead*risk.Seconds((arity-1)*(h-1))
}

// ByLevel is T_s with the contention of a level's nodes and their parents alone in place of that of
// all nodes: while a proposal is on its way down, the other levels are at rest. It needs Contended,
// and takes all nodes to be a hop apart.
func (m *Model) ByLevel(nodes, arity int) risk.Seconds {
	h := Levels(nodes, arity)
	sum := m.Compute*risk.Seconds(h) + m.Overhead*risk.Seconds((arity-1)*(h-1))
	for first := 1; first < nodes; first = arity*first + 1 {
		children := min(nodes, arity*first+1) - first
		parents := (children + arity - 1) / arity
		sum += 2 * m.Contended.Latency(children+parents, arity)
	}
	return sum
}

// Best is the arity of a list with which so many nodes stabilise first, the smallest of equal
// ones.
func (m *Model) Best(nodes int, arities []int) int {
	best, least := 0, risk.Seconds(math.Inf(1))
	for _, a := range arities {
		if t := m.Stabilise(nodes, a); t < least || t == least && a < best {
			best, least = a, t
		}
	}
	return best
}

// Measurement is a stabilisation time that was measured.
type Measurement struct {
	Nodes, Arity int
	Time         risk.Seconds
}

// Fit is how well a model describes measurements.
type Fit struct {
	Contention float64      // c
	Residual   risk.Seconds // root of the mean square of what remains
	Without    risk.Seconds // the same with c = 0
	Count      int
}

// Off is how far measurements are from the model: the root of the mean square. There is one at
// least.
func (m *Model) Off(measured []Measurement) (risk.Seconds, error) {
	sum := 0.0
	for _, p := range measured {
		if err := m.ValidateTree(p.Nodes, p.Arity); err != nil {
			return 0, err
		}
		d := float64(p.Time - m.Stabilise(p.Nodes, p.Arity))
		sum += d * d
	}
	if len(measured) == 0 {
		return 0, errors.New("want at least one measurement")
	}
	return risk.Seconds(math.Sqrt(sum / float64(len(measured)))), nil
}

// FitContention finds the c that suits measurements best, by least squares. T_s is
// linear in it.
func (m *Model) FitContention(measured []Measurement) (Fit, error) {
	without := *m
	without.Contention = 0
	fit := Fit{Count: len(measured)}
	var xx, xy, yy float64
	for _, p := range measured {
		if err := m.ValidateTree(p.Nodes, p.Arity); err != nil {
			return fit, err
		}
		x := 2 * float64(m.Latency) * float64(m.Topology.Hops(p.Nodes, p.Arity)) * float64(Widest(p.Nodes, p.Arity))
		y := float64(p.Time - without.Stabilise(p.Nodes, p.Arity))
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if xx == 0 {
		return fit, errors.New("want at least one measurement of 2 nodes or more")
	}
	fit.Contention = xy / xx
	if fit.Contention < 0 {
		return fit, fmt.Errorf("the measurements are below the model without contention (c would be %.3g): give the latency of an idle network", fit.Contention)
	}
	n := float64(fit.Count)
	fit.Residual = risk.Seconds(math.Sqrt(max(0, yy-xy*fit.Contention) / n))
	fit.Without = risk.Seconds(math.Sqrt(yy / n))
	return fit, nil
}
