package comm

// linearGather sends every part straight to the root, which receives from all at once.
//
//	(n-1) · (α + m/n β) at the root, one step elsewhere
func (p *Plan) linearGather(send []byte, recv Blocks, root int) {
	if p.rank() != root {
		p.send(root, send)
		return
	}
	for i := range p.size() {
		if i != root {
			p.receive(i, recv.Of(i))
		}
	}
	p.copy(recv.Of(root), send)
}
