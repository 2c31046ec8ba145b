package comm

// Scatter brings each member its part of the root's data, in rank order. All parts have one length.
// send is used at the root only, where recv may be the root's part of it.
func (c *Comm) Scatter(send, recv []byte, root int) *Plan {
	p := c.plan("Scatter")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if p.rank() == root && len(send) != len(recv)*p.size() {
		return p.fail(sizeError("the send buffer", len(send), len(recv)*p.size()))
	}
	p.givesScattered(root, Blocks{Data: send, Each: len(recv)}, len(recv))
	if p.size() > 2 && len(recv) <= binomialScatter {
		p.binomialScatter(send, recv, root)
	} else {
		p.linearScatter(Blocks{Data: send, Each: len(recv)}, recv, root)
	}
	return p
}

// binomialScatter is the most bytes for each member that other members carry on.
const binomialScatter = 4 << 10

// Scatterv is Scatter for parts of different lengths: send.Of(i) goes to rank i. send is used at
// the root only, where recv may be the root's part of it.
func (c *Comm) Scatterv(send Blocks, recv []byte, root int) *Plan {
	p := c.plan("Scatter")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if p.rank() == root {
		if err := send.check("the send buffer", p.size()); err != nil {
			return p.fail(err)
		}
		if own := send.Len(root); own != len(recv) {
			return p.fail(sizeError("the root's own part", len(recv), own))
		}
	}
	p.givesScattered(root, send, len(recv))
	p.linearScatter(send, recv, root)
	return p
}
