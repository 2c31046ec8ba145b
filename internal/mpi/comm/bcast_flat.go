package comm

// flatBcastMembers is up to how many members that share memory hear from the root itself: its
// messages to them take no longer than those of two that pass them on.
const flatBcastMembers = 4

// flatBcast is a message from the root to each other member: everybody hears from the root
// itself, so nobody could correct anything, and the death of one is nothing to the others. If
// the root dies meanwhile, some members may have the data and others not.
//
//	(n-1) (α + m β)
func (c *Comm) flatBcast(data []byte, root int) *Plan {
	p, ok := c.planSpread(data, root)
	if ok {
		p.spreadFrom(root, data, len(data) > directBcast && c.shared)
	}
	return p
}

// planSpread begins a plan in which the root itself sends its data to all others; ok is false if
// it fails.
func (c *Comm) planSpread(data []byte, root int) (p *Plan, ok bool) {
	p = c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err), false
	}
	if err := c.openSpread(); err != nil {
		return p.fail(err), false
	}
	p.givesRooted(root, data)
	p.s.Context, p.s.Spreads = c.branch(spreadBranch), true
	return p, true
}

// spreadFrom is that step: the root's sending, or the receive from it.
func (p *Plan) spreadFrom(root int, data []byte, offered bool) {
	if p.rank() != root {
		p.receive(root, data)
	} else {
		p.spread(data, offered)
	}
	p.wait() // or what can't come would be waited for
}

// spread sends the root's data to all others, or offers it, to be read in the root's memory.
func (p *Plan) spread(data []byte, offered bool) {
	for i := 1; i < p.size(); i++ {
		to := (p.rank() + i) % p.size()
		if offered {
			p.s.Offer(p.world(to), data)
		} else {
			p.send(to, data)
		}
	}
}
