package viewtime

import (
	"fmt"
	"strconv"
	"strings"
)

// Topology is a network: a torus or a mesh in three dimensions, or, if it is zero,
// one in which all nodes are a hop apart.
type Topology struct {
	Size [3]int
	Wrap bool // a torus
}

// ParseTopology reads "single", "torus:XxYxZ" or "mesh:XxYxZ".
func ParseTopology(text string) (Topology, error) {
	if text == "single" {
		return Topology{}, nil
	}
	kind, size, _ := strings.Cut(text, ":")
	t := Topology{Wrap: kind == "torus"}
	sides := strings.Split(size, "x")
	if kind != "torus" && kind != "mesh" || len(sides) != len(t.Size) {
		return t, fmt.Errorf("%q: want single, torus:XxYxZ or mesh:XxYxZ", text)
	}
	for i, side := range sides {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 || n > MaxNodes {
			return t, fmt.Errorf("%q: side %q: want a number from 1 to %d", text, side, MaxNodes)
		}
		t.Size[i] = n
	}
	if t.Size[0]*t.Size[1] > MaxNodes || t.Size[0]*t.Size[1]*t.Size[2] > MaxNodes {
		return t, fmt.Errorf("%q: want no more than %d nodes", text, MaxNodes)
	}
	return t, nil
}

// Single says that all nodes are a hop apart.
func (t Topology) Single() bool { return t == Topology{} }

// Nodes returns how many nodes the network has, 0 if there is no limit.
func (t Topology) Nodes() int { return t.Size[0] * t.Size[1] * t.Size[2] }

func (t Topology) String() string {
	if t.Single() {
		return "single"
	}
	kind := "mesh"
	if t.Wrap {
		kind = "torus"
	}
	return fmt.Sprintf("%s:%dx%dx%d", kind, t.Size[0], t.Size[1], t.Size[2])
}

// Distance is the number of hops between two nodes.
func (t Topology) Distance(a, b int) int {
	if t.Single() {
		if a == b {
			return 0
		}
		return 1
	}
	hops := 0
	for i := len(t.Size) - 1; i >= 0; i-- {
		side := t.Size[i]
		d := a%side - b%side
		if d = max(d, -d); t.Wrap {
			d = min(d, side-d)
		}
		hops += d
		a, b = a/side, b/side
	}
	return hops
}

// Hops is the sum over the levels of the tree of the most hops between a parent
// and a child there.
func (t Topology) Hops(nodes, arity int) int {
	if t.Single() {
		return Levels(nodes, arity) - 1
	}
	sum := 0
	for first := 1; first < nodes; first = arity*first + 1 {
		most := 0
		for child := first; child < min(nodes, arity*first+1); child++ {
			most = max(most, t.Distance(child, (child-1)/arity))
		}
		sum += most
	}
	return sum
}

// LongestWay is the most hops on the way from the root of the tree to a node. It is at most
// [Topology.Hops], whose parts needn't lie on one way.
func (t Topology) LongestWay(nodes, arity int) int {
	ways, longest := make([]int, nodes), 0
	for child := 1; child < nodes; child++ {
		parent := (child - 1) / arity
		ways[child] = ways[parent] + t.Distance(child, parent)
		longest = max(longest, ways[child])
	}
	return longest
}
