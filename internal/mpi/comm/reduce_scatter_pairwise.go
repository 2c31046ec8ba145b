package comm

// pairwiseReduceScatter sends each part straight to its owner: in step s to the member s ahead,
// while the data of the member s behind arrives. Data arrives in descending order of ranks: first
// from the ranks below, then, round the end, from those above. Each goes to the left of what has
// arrived before, in two accumulators, one for the ranks below and one for those above.
//
//	(n-1) · α + (n-1)/n · m (β + γ)
func (p *Plan) pairwiseReduceScatter(send, recv []byte, starts []int, op Op) {
	n, rank := p.size(), p.rank()
	part := func(i int) []byte { return send[starts[i]:starts[i+1]] }
	own := len(recv)
	below, above := p.scratch(own), p.scratch(own)
	// Two receives are under way at a time, so that one message arrives while the other is
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
		if s == rank+1 { // the first from a rank above
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
