package comm

// pairwiseReduceScatter sends each part straight to its owner: in step s to the one
// s ahead, from the one s behind. Those behind come in descending order, first those
// below, then, round the end, those above: what comes goes to the left of what has
// come before, in two accumulators.
//
//	(n-1) · α + (n-1)/n · m (β + γ)
func (p *Plan) pairwiseReduceScatter(send, recv []byte, starts []int, op Op) {
	n, rank := p.size(), p.rank()
	part := func(i int) []byte { return send[starts[i]:starts[i+1]] }
	own := len(recv)
	below, above := p.scratch(own), p.scratch(own)
	// Two receives are under way at a time, so that one arrives while the other is
	// combined.
	in := [2][]byte{p.scratch(own), p.scratch(own)}
	p.copy(below, part(rank))
	begin := func(s int) {
		p.receive((rank-s+n)%n, in[s%2])
		p.send((rank+s)%n, part((rank+s)%n))
	}
	begin(1)
	for s := 1; s < n; s++ {
		if s+1 < n {
			begin(s + 1)
		}
		p.s.WaitFor(2 * s)
		acc := &below
		if s > rank {
			acc = &above
		}
		if s == rank+1 { // the first from above
			above, in[s%2] = in[s%2], above
			continue
		}
		p.combine(op, in[s%2], *acc)
		*acc, in[s%2] = in[s%2], *acc
	}
	if rank+1 < n {
		p.combine(op, below, above)
	}
	p.copy(recv, below)
}
