package reduction

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// maxMask is how many children, or neighbours, a State can tell apart.
const maxMask = 64

// Config is what all processes of a reduction know in advance. It is shared, and not
// changed after [Config.Prepare].
type Config struct {
	Tree topology.Tree
	// Distance is how many neighbours on each side of the ring get a copy of a
	// process's contribution, 0 for a plain tree. In a small ring no process gets two.
	Distance int
	// Idempotent says of the operation that x combined with x is x.
	Idempotent bool
	// Pace is the least time between the beginnings of two sends of a process, and of two
	// receives (in LogP the larger of o and g). Hop is the most that passes from the beginning
	// of a send until its message has been received, if nothing else is received (2o + L).
	Pace, Hop proto.Time

	neighbours int32
	span       proto.Time // dissemination along the tree takes so long
}

// Prepare says what is wrong with a Config, and makes it ready for use. It walks through
// the tree once.
func (c *Config) Prepare() error {
	procs := c.Tree.Procs()
	switch {
	case procs < 1:
		return fmt.Errorf("a reduction needs a tree")
	case c.Distance < 0 || c.Distance > maxMask/2 || c.Distance > max(1, procs-1):
		return fmt.Errorf("distance %d: want 0 to %d", c.Distance, min(maxMask/2, max(1, procs-1)))
	case c.Pace < 1 || c.Hop < 1:
		return fmt.Errorf("pace %d, hop %d: want at least 1", c.Pace, c.Hop)
	}
	c.neighbours = int32(min(2*c.Distance, procs-1))
	return c.walk()
}

// walk finds when dissemination would end, and whether a process has too many children.
func (c *Config) walk() error {
	type visit struct {
		children topology.Cursor
		sent     int
		reached  proto.Time
	}
	path := []visit{{children: c.Tree.Children(0)}}
	c.span = 0
	for len(path) > 0 {
		v := &path[len(path)-1]
		child, ok := c.Tree.Next(&v.children)
		if !ok {
			path = path[:len(path)-1]
			continue
		}
		reached := v.reached + proto.Time(v.sent)*c.Pace + c.Hop
		if v.sent++; v.sent > maxMask {
			return fmt.Errorf("a process with more than %d children", maxMask)
		}
		c.span = max(c.span, reached)
		path = append(path, visit{children: c.Tree.Children(child), reached: reached})
	}
	return nil
}

// reached is when dissemination would reach a position.
func (c *Config) reached(position int) proto.Time {
	at := proto.Time(0)
	for position != 0 {
		parent := c.Tree.Parent(position)
		at += proto.Time(c.childIndex(parent, position))*c.Pace + c.Hop
		position = parent
	}
	return at
}

// childIndex is how many children a parent sends to before this one, in a broadcast;
// -1 if it isn't one of its children.
func (c *Config) childIndex(parent, position int) int {
	children := c.Tree.Children(parent)
	for i := 0; ; i++ {
		switch child, ok := c.Tree.Next(&children); {
		case !ok:
			return -1
		case child == position:
			return i
		}
	}
}

// copied is the time at which all can begin to climb: its copies are sent, or,
// where it needs those of others, received.
func (c *Config) copied() proto.Time {
	n := proto.Time(c.neighbours)
	if c.Idempotent && n > 0 {
		return (n-1)*c.Pace + c.Hop
	}
	return n * c.Pace
}

// partDue is when a process sends its part at the latest, if dissemination would reach it at a
// given time.
func (c *Config) partDue(reached proto.Time) proto.Time { return c.copied() + c.span - reached }

// restDue is the same for the second climb.
func (c *Config) restDue(reached proto.Time) proto.Time { return c.copied() + 3*c.span - reached }

// End is when the root has ended at the latest. Nothing that comes later counts.
func (c *Config) End() proto.Time {
	if c.mends() {
		return c.restDue(0)
	}
	return c.partDue(0)
}

// mends says whether there may be a second climb.
func (c *Config) mends() bool { return !c.Idempotent && c.neighbours > 0 }

// Neighbours is the number of processes that get a copy of one's contribution.
func (c *Config) Neighbours() int { return int(c.neighbours) }

// Neighbour is the i-th of them: the left one, the right one, the one beyond the left
// one, and so on, round the ring.
func (c *Config) Neighbour(position, i int) int { return c.at(position + offset(i)) }

// Origin is whose i-th neighbour a position is.
func (c *Config) Origin(position, i int) int { return c.at(position - offset(i)) }

func offset(i int) int {
	if i%2 == 0 {
		return -(i/2 + 1)
	}
	return i/2 + 1
}

// at is the position that an offset of less than one turn leads to.
func (c *Config) at(position int) int {
	switch n := c.Tree.Procs(); {
	case position < 0:
		return position + n
	case position >= n:
		return position - n
	}
	return position
}

// CutOff says whether silent processes cut a position off from the root: whether it or an
// ancestor is one of them.
func (c *Config) CutOff(position int, silent func(position int) bool) bool {
	for ; position > 0; position = c.Tree.Parent(position) {
		if silent(position) {
			return true
		}
	}
	return false
}

// Taker is the neighbour whose copy of a cut-off process's contribution counts: the
// nearest that isn't cut off, the left one of two. It is false if there is none.
func (c *Config) Taker(position int, cutOff func(position int) bool) (int, bool) {
	for i := range int(c.neighbours) {
		if n := c.Neighbour(position, i); !cutOff(n) {
			return n, true
		}
	}
	return 0, false
}
