package comm

// binomialReduce combines along a binomial tree to rank 0, whose inner nodes combine blocks of
// neighbouring ranks. Rank 0 sends the result to the root if that is another rank.
//
//	⌈log2 n⌉ · (α + m β + m γ), and one step more if the root isn't 0
func (p *Plan) binomialReduce(send, recv []byte, op Op, root int) {
	n, rank := p.size(), p.rank()
	acc := send
	if rank&1 == 0 && rank+1 < n { // this rank has children
		if acc = recv; rank != 0 || root != 0 {
			acc = p.scratch(len(send))
		}
		p.copy(acc, send)
	}
	// Children send when they are ready, so all receives are posted at once.
	var in [64][]byte
	children := 0
	for bit := 1; bit < n && rank&bit == 0; bit *= 2 {
		if child := rank | bit; child < n {
			in[children] = p.scratch(len(send))
			p.receive(child, in[children])
			children++
		}
	}
	for i := range children {
		p.s.WaitFor(i + 1)
		p.combine(op, acc, in[i])
	}
	switch {
	case rank != 0:
		p.send(rank&(rank-1), acc)
		if rank == root {
			p.wait()
			p.receive(0, recv)
		}
	case root != 0:
		p.send(root, acc)
	}
}
