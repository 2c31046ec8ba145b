package comm

// linearScatter sends every part straight from the root.
//
//	(n-1) · (α + m/n β) at the root, one step elsewhere
func (p *Plan) linearScatter(send Blocks, recv []byte, root int) {
	if p.rank() != root {
		p.receive(root, recv)
		return
	}
	for s := 1; s < p.size(); s++ {
		to := (root + s) % p.size()
		p.send(to, send.Of(to))
	}
	p.copy(recv, send.Of(root))
}
