package logp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/study/field"
)

// Placement says how the positions of a broadcast, its processes, are assigned to the ranks of
// a machine, whose nodes hold consecutive ranks. The root is always rank 0.
type Placement uint8

const (
	// Consecutive positions are consecutive ranks: a dead node is one long run on
	// the ring.
	Consecutive Placement = iota
	// Shuffled assigns all other ranks at random.
	Shuffled
	// Striped is node-aware: it assigns one rank of each node in turn. So neighbours on the
	// ring are on different nodes, and a dead node leaves only gaps of one.
	Striped
)

var placements = [...]string{"consecutive", "shuffled", "striped"}

func (p Placement) String() string {
	if int(p) < len(placements) {
		return placements[p]
	}
	return fmt.Sprintf("placement %d", uint8(p))
}

// ParsePlacement is the inverse of [Placement.String].
func ParsePlacement(s string) (Placement, error) {
	if i := slices.Index(placements[:], s); i >= 0 {
		return Placement(i), nil
	}
	return 0, fmt.Errorf("unknown placement %q: want consecutive, shuffled or striped", s)
}

// Nodes are groups of processes that are near each other and fail together: nodes or racks.
type Nodes struct {
	Size      int // ranks of a node, but for the last, which may have fewer; 0: no nodes
	Placement Placement
	Seed      uint64 // of Shuffled
}

func (n Nodes) validate(procs int) error {
	switch {
	case n.Size < 0 || n.Size > procs:
		return field.Errorf("node_size", "%d: want 1 to %d, or 0 for no nodes", n.Size, procs)
	case int(n.Placement) >= len(placements):
		return field.Errorf("placement", "unknown %v", n.Placement)
	case n.Size == 0 && n.Placement != Consecutive:
		return field.Errorf("placement", "%v: there are no nodes", n.Placement)
	}
	return nil
}

// Count is the number of nodes of so many processes.
func (n Nodes) Count(procs int) int { return (procs + n.Size - 1) / n.Size }

// Of returns the node of each position.
func (n Nodes) Of(procs int) []int32 {
	node := make([]int32, procs)
	switch n.Placement {
	case Striped:
		for p, i := 0, 0; p < procs; i++ { // the i-th rank of each node
			for first := 0; first+i < procs; first += n.Size {
				node[p] = int32(first / n.Size)
				p++
			}
		}
	default:
		for p := range node {
			node[p] = int32(p / n.Size)
		}
	}
	if n.Placement == Shuffled {
		others := node[1:]
		rand.New(rand.NewPCG(n.Seed, 0)).Shuffle(len(others), func(i, j int) {
			others[i], others[j] = others[j], others[i]
		})
	}
	return node
}

// FailNodes adds all processes of so many random nodes to the dead ones, but not of the root's
// node. The same source gives the same nodes.
func (c *Case) FailNodes(count int, source rand.Source) error {
	nodes := c.Model.Nodes
	if nodes.Size == 0 {
		return field.Errorf("node_size", "0: there are no nodes to fail")
	}
	if err := nodes.validate(c.Procs); err != nil {
		return err
	}
	others := nodes.Count(c.Procs) - 1
	if count < 0 || count > others {
		return field.Errorf("failed_nodes", "%d: want 0 to %d", count, others)
	}
	dead := NewSet(others + 1)
	for _, node := range rand.New(source).Perm(others)[:count] {
		dead.Add(node + 1)
	}
	failed := slices.Clone(c.Failed)
	for p, node := range nodes.Of(c.Procs) {
		if dead.Has(int(node)) {
			failed = append(failed, p)
		}
	}
	slices.Sort(failed)
	c.Failed = slices.Compact(failed)
	return nil
}
