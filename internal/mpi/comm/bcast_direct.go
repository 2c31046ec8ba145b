package comm

import "encoding/binary"

// directBcast is above how many bytes the members read what they get in the root's
// memory. docs/results/broadcast-bench.md says how it was measured.
const directBcast = 32 << 10

// directHead is the length of what announces a broadcast whose data is read.
const directHead = 24

// directBcast offers the data to every member, who reads it in the root's memory
// (internal/runtime/process/direct.go): all at once, each byte copied once for each member. No
// algorithm on one host copies less, and no member stands between another and the
// root: the death of one is nothing to the others, and so nothing has to be corrected. The
// root returns when all who live have it, so the data isn't kept anywhere else.
//
// A broadcast of its length over the corrected tree comes with it: members that disagree
// about the size, and so maybe about the algorithm, notice as they do with small ones.
//
//	n α + (n-1) m β / cores
//
// If the root dies meanwhile, some members may have the data and others not.
func (c *Comm) directBcast(data []byte, root int) *Plan {
	p, ok := c.planSpread(data, root)
	if !ok {
		return p
	}
	p.s.Lane, p.s.Casts = &c.plans.stream, c.context|collectivePart
	head := p.scratch(directHead)
	binary.LittleEndian.PutUint64(head, uint64(len(data)))
	p.s.Broadcast(root, 0, head)
	p.spreadFrom(root, data, true)
	return p
}

// openSpread opens the context of messages that spread data, at the first of them. It isn't
// that of collectives, whose messages fail everywhere when a member is lost.
func (c *Comm) openSpread() error {
	c.plans.Lock()
	defer c.plans.Unlock()
	if c.plans.spread {
		return nil
	}
	c.plans.spread = true
	return c.eng.OpenContext(c.branch(spreadBranch), c.group, false)
}
