package comm

// flatBcastMembers is the largest number of members that share memory and hear from the root
// itself. Its messages to so many take no longer than passing them on in two steps.
const flatBcastMembers = 4

// flatBcast is a message from the root to each other member. All hear from the root itself, so
// there is nothing to correct, and a member's death doesn't matter to the others. If the root dies
// meanwhile, some members may have the data and others not.
//
// Where members share cores it serves large data of more members, too. They find it in their rings,
// with one turn of each. To read it in the root's memory takes a broadcast of the length before,
// and the kernel's search for each page (decision 107).
//
//	(n-1) (α + m β)
func (p *Plan) flatBcast(data []byte, root int) {
	if p.spreads() {
		p.spreadFrom(root, data, false)
	}
}

// spreads makes the plan one in which the root itself sends its data to all others. It is false,
// and the plan has failed, if that isn't possible.
func (p *Plan) spreads() bool {
	c := p.comm
	if err := c.openSpread(); err != nil {
		p.fail(err)
		return false
	}
	p.s.Context, p.s.Spreads = c.branch(spreadBranch), true
	return true
}

// spreadFrom adds that step: the root's sends, or the receive from the root.
func (p *Plan) spreadFrom(root int, data []byte, offered bool) {
	if p.rank() != root {
		p.receive(root, data)
	} else {
		p.spread(data, offered)
	}
	p.wait() // else a later step would wait for a message that can't come
}

// spread sends the root's data to all others, or offers it to be read in the root's memory.
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
