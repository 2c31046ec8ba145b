package comm

// Gather collects the members' data at the root, in rank order. All give the same number of bytes.
// recv is used at the root only, where send may be the root's part of it.
func (c *Comm) Gather(send, recv []byte, root int) *Plan {
	p := c.plan("Gather")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if p.rank() == root && len(recv) != len(send)*p.size() {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)*p.size()))
	}
	p.gives(root, send)
	if p.size() > 2 && len(send) <= binomialGather {
		p.binomialGather(send, recv, root)
	} else {
		p.linearGather(send, Blocks{Data: recv, Each: len(send)}, root)
	}
	return p
}

// binomialGather is the largest number of bytes of each member that others collect on the way to
// the root.
const binomialGather = 4 << 10

// Gatherv is Gather for parts of different lengths: recv.Of(i) comes from rank i. recv is used at
// the root only, where send may be the root's part of it.
func (c *Comm) Gatherv(send []byte, recv Blocks, root int) *Plan {
	p := c.plan("Gather")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if p.rank() == root {
		if err := recv.check("the receive buffer", p.size()); err != nil {
			return p.fail(err)
		}
		if own := recv.Len(root); own != len(send) {
			return p.fail(sizeError("the root's own part", len(send), own))
		}
	}
	p.gives(root, send)
	p.linearGather(send, recv, root)
	return p
}
