package comm

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// Ranks are the members as ranks of the world, in the order of their ranks here. The caller must
// not change them.
func (c *Comm) Ranks() []proto.Rank { return c.group }

// Same tells whether two communicators are one and the same.
func (c *Comm) Same(d *Comm) bool { return c.context == d.context && slices.Equal(c.group, d.group) }

// Create makes a communicator of some members, given as ranks of the world in their new
// order. All members of c call it; a member that isn't in its group gets nil. The groups that
// different members give must be equal or disjoint.
//
// The members need no agreement: those of a group derive the same context from its least member.
func (c *Comm) Create(group []proto.Rank) (*Comm, error) {
	const op = "Create"
	least := proto.Rank(0)
	if len(group) > 0 {
		least = slices.Min(group)
	}
	return c.subset(op, c.child(uint64(least)+1), group)
}

// CreateGroup does the same as Create, but only the members of the group call it. Members that make
// several groups at once, in different threads, tell them apart by tags.
func (c *Comm) CreateGroup(group []proto.Rank, tag int) (*Comm, error) {
	key := splitmix.Mix(uint64(tag))
	for _, r := range group {
		key = splitmix.Mix(key ^ uint64(r))
	}
	// All members have called this equally often with the same group and tag, and no other group or
	// tag gives the same context.
	n := c.count(key)
	return c.subset("CreateGroup", splitmix.Mix(splitmix.Mix(splitmix.Mix(splitmix.Mix(c.context)^groupBranch)^key)^n)&^collectivePart, group)
}

// count counts what has a key, from 1 on. The counts belong to the state of a replica.
func (c *Comm) count(key uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups == nil {
		c.groups = map[uint64]uint64{}
	}
	c.groups[key]++
	return c.groups[key]
}

// groupBranch keeps the contexts of CreateGroup apart from those of other children, which count
// from 1.
const groupBranch = 1 << 63

func (c *Comm) subset(op string, context uint64, group []proto.Rank) (*Comm, error) {
	if err := c.Usable(); err != nil {
		return nil, c.wrap(op, err)
	}
	_, self := c.eng.Self()
	if !slices.Contains(group, self) {
		return nil, nil
	}
	for _, r := range group {
		if r < 0 || int(r) >= len(c.inverse) || c.inverse[r] < 0 {
			return nil, c.wrap(op, rankError(int(r), len(c.inverse)))
		}
	}
	d, err := open(c.eng, context, slices.Clone(group))
	if err != nil {
		return nil, c.wrap(op, err)
	}
	return d, nil
}
