package comm

// pairBcast is a message to the only other member: that one hears from the root itself, so
// nobody could correct anything. If it is dead or dies, the root has what it is to have.
//
//	α + m β
func (c *Comm) pairBcast(data []byte, root int) *Plan {
	p := c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	p.givesRooted(root, data)
	p.s.Context, p.s.Spreads = c.context|collectivePart, true
	switch other := 1 - root; {
	case p.rank() != root:
		p.receive(root, data)
	case len(data) > directBcast && c.shared:
		p.s.Offer(p.world(other), data) // it is read in the root's memory
	default:
		p.send(other, data)
	}
	p.wait()
	return p
}
