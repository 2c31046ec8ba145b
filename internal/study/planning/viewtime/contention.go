package viewtime

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

// Latency is L under contention, as measured: half a round trip of a parent and its children when
// so many nodes stand in such groups and all talk at the same time. One child makes pairs.
type Latency struct {
	Children, Nodes int
	Time            risk.Seconds
}

// Contended is L by the number of nodes and of children: the paper's figure 7. It is a line from
// point to point of the measurements. Below them L is that of the fewest nodes. Above them it goes
// on from the last point with the slope of the upper half of them (least squares), but never
// falls: the paper calls the growth near-linear.
type Contended struct{ curves []curve } // in order of their children

// curve is L with so many children.
type curve struct {
	children int
	points   []Latency    // in order of their nodes
	slope    risk.Seconds // beyond the last
}

// NewContended takes measurements, of which there may be several of a kind: their median counts.
func NewContended(measured []Latency) (*Contended, error) {
	if len(measured) == 0 {
		return nil, errors.New("want one measured latency at least")
	}
	for i, m := range measured {
		if m.Children < 1 || m.Nodes < 2 || m.Nodes > MaxNodes || !(m.Time > 0) || m.Time > maxLatency {
			return nil, fmt.Errorf("latency %d: %d nodes, %d children, %v: want 2 nodes and a child at least, and a time", i+1, m.Nodes, m.Children, m.Time)
		}
	}
	rest := slices.SortedFunc(slices.Values(measured), func(a, b Latency) int {
		return cmp.Or(cmp.Compare(a.Children, b.Children), cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Time, b.Time))
	})
	c := &Contended{}
	for len(rest) > 0 {
		first, n := rest[0], 1 // n of a kind
		for n < len(rest) && rest[n].Children == first.Children && rest[n].Nodes == first.Nodes {
			n++
		}
		if len(c.curves) == 0 || c.curves[len(c.curves)-1].children != first.Children {
			c.curves = append(c.curves, curve{children: first.Children})
		}
		last := &c.curves[len(c.curves)-1]
		last.points = append(last.points, Latency{first.Children, first.Nodes, rest[(n-1)/2].Time/2 + rest[n/2].Time/2})
		rest = rest[n:]
	}
	for i := range c.curves {
		points := c.curves[i].points
		c.curves[i].slope = max(0, Slope(points[(len(points)-1)/2:]))
	}
	return c, nil
}

// maxLatency refuses times that can't be one: an hour.
const maxLatency risk.Seconds = 3600

// Children are those that were measured, in order.
func (c *Contended) Children() []int {
	var all []int
	for i := range c.curves {
		all = append(all, c.curves[i].children)
	}
	return all
}

// Measured are the points with so many children in order of their nodes, nil if there are none.
func (c *Contended) Measured(children int) []Latency {
	if x := c.curve(children); x != nil {
		return x.points
	}
	return nil
}

// Alone is L where nothing else talks: with the fewest children and nodes.
func (c *Contended) Alone() risk.Seconds { return c.curves[0].points[0].Time }

func (c *Contended) curve(children int) *curve {
	for i := range c.curves {
		if c.curves[i].children == children {
			return &c.curves[i]
		}
	}
	return nil
}

// Latency is L with so many nodes. It panics if nothing was measured with so many children.
func (c *Contended) Latency(nodes, children int) risk.Seconds {
	x := c.curve(children)
	i, found := slices.BinarySearchFunc(x.points, nodes, func(p Latency, n int) int { return cmp.Compare(p.Nodes, n) })
	switch {
	case found:
		return x.points[i].Time
	case i == 0:
		return x.points[0].Time
	case i == len(x.points):
		last := x.points[i-1]
		return last.Time + x.slope*risk.Seconds(nodes-last.Nodes)
	}
	a, b := x.points[i-1], x.points[i]
	return a.Time + (b.Time-a.Time)*risk.Seconds(nodes-a.Nodes)/risk.Seconds(b.Nodes-a.Nodes)
}

// check returns a *field.Error if nothing was measured for trees of an arity.
func (c *Contended) check(arity int) error {
	if c == nil || c.curve(arity) != nil {
		return nil
	}
	return field.Errorf("arity", "%d: the latency under contention was measured with %v children", arity, c.Children())
}

// Slope is how much L grows with each node, by least squares; 0 of a single point.
func Slope(points []Latency) risk.Seconds {
	var x, y risk.Seconds
	n := risk.Seconds(len(points))
	for _, p := range points {
		x, y = x+risk.Seconds(p.Nodes)/n, y+p.Time/n
	}
	var xx, xy risk.Seconds
	for _, p := range points {
		d := risk.Seconds(p.Nodes) - x
		xx, xy = xx+d*d, xy+d*(p.Time-y)
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}
