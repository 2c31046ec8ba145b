package resilience

import (
	"math"

	"banyan/internal/study/field"
)

// Degree is how many replicas a rank has on average; 1 is no replication. With 1.25, one
// rank in four has 2 and the others 1.
type Degree float64

// Bounds of what can be planned.
const (
	MaxDegree = 8
	MaxNodes  = 1 << 30
)

// Validate returns a *field.Error if there is no such degree.
func (d Degree) Validate() error {
	if !(d >= 1 && d <= MaxDegree) {
		return field.Errorf("degree", "%v: want 1 to %d", float64(d), MaxDegree)
	}
	return nil
}

// Group is ranks with equally many replicas each.
type Group struct{ Ranks, Replicas int }

// Layout is a job's ranks: one group, or two if replication is partial.
type Layout []Group

// NewLayout replicates so many ranks to a degree, as nearly as whole replicas can.
func NewLayout(ranks int, d Degree) Layout {
	replicas := int(d)
	more := int(math.Round((float64(d) - float64(replicas)) * float64(ranks)))
	var l Layout
	if ranks > more {
		l = append(l, Group{ranks - more, replicas})
	}
	if more > 0 {
		l = append(l, Group{more, replicas + 1})
	}
	return l
}

// FitLayout is the layout of the most ranks for which the nodes suffice; it is empty if they
// don't for one.
func FitLayout(nodes int, d Degree) Layout {
	ranks := int(float64(nodes) / float64(d))
	l := NewLayout(ranks, d)
	for l.Nodes() > nodes { // rounding
		ranks--
		l = NewLayout(ranks, d)
	}
	return l
}

// Ranks is the number of ranks.
func (l Layout) Ranks() int {
	sum := 0
	for _, g := range l {
		sum += g.Ranks
	}
	return sum
}

// Nodes is the number of nodes: of replicas.
func (l Layout) Nodes() int {
	sum := 0
	for _, g := range l {
		sum += g.Ranks * g.Replicas
	}
	return sum
}

// Replicated says whether any rank has more than one replica.
func (l Layout) Replicated() bool { return l.Nodes() > l.Ranks() }
