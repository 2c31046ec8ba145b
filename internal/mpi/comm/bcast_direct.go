package comm

import "encoding/binary"

// directBcast is the size, in bytes, above which the members read the data in the root's memory.
// docs/results/broadcast-bench.md says how it was measured.
const directBcast = 32 << 10

// directHead is the length of the message that announces data to be read.
const directHead = 24

// directBcast offers the data to every member, which reads it in the root's memory
// (internal/runtime/process/direct.go). All read at once, and each byte is copied once for each
// member. No algorithm on one host copies less. No member stands between another one and the root,
// so a member's death doesn't matter to the others, and nothing has to be corrected. The root
// returns when all live members have the data, so no copy of it is kept.
//
// A broadcast of the length runs over the corrected tree beside it. So members that disagree about
// the size, and perhaps about the algorithm, notice it as with small data.
//
//	n α + (n-1) m β / cores
//
// If the root dies meanwhile, some members may have the data and others not.
func (p *Plan) directBcast(data []byte, root int) {
	c := p.comm
	if !p.spreads() {
		return
	}
	p.s.Lane, p.s.Casts = &c.plans.stream, c.context|collectivePart
	head := p.scratch(directHead)
	binary.LittleEndian.PutUint64(head, uint64(len(data)))
	p.s.Broadcast(root, 0, head)
	p.spreadFrom(root, data, true)
}

// openSpread opens the context of messages that spread data, at the first of them. It isn't the
// context of collectives, since the messages of those fail everywhere when a member is lost.
func (c *Comm) openSpread() error {
	c.plans.Lock()
	defer c.plans.Unlock()
	if c.plans.spread {
		return nil
	}
	c.plans.spread = true
	return c.eng.OpenBranch(c.context, c.branch(spreadBranch), c.group, false)
}
