package comm

// bruckAllgather sends, in round k, all that a member has to the member 2^k behind. A member that
// held the parts of d ranks, from its own on, then holds those of 2d.
//
//	⌈log2 n⌉ · α + (n-1)/n · m β, and a copy of the whole
func (p *Plan) bruckAllgather(recv Blocks) {
	n, rank := p.size(), p.rank()
	at := p.numbers(0, n+1) // of the parts, from this member's on
	at[0] = 0
	for i := range n {
		at[i+1] = at[i] + recv.Len((rank+i)%n)
	}
	parts := p.scratch(at[n])
	p.copy(parts[:at[1]], recv.Of(rank))
	for d := 1; d < n; d *= 2 {
		more := min(d, n-d)
		p.exchange((rank-d+n)%n, parts[:at[more]], (rank+d)%n, parts[at[d]:at[d+more]])
	}
	for i := 1; i < n; i++ {
		p.copy(recv.Of((rank+i)%n), parts[at[i]:at[i+1]])
	}
}
