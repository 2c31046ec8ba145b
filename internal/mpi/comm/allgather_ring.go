package comm

// ringAllgather passes on the part that arrived last: each part goes round the ring.
//
//	(n-1) · α + (n-1)/n · m β
func (p *Plan) ringAllgather(recv Blocks) {
	n, rank := p.size(), p.rank()
	for step := range n - 1 {
		give, get := (rank-step+n)%n, (rank-step-1+n)%n
		p.exchange((rank+1)%n, recv.Of(give), (rank-1+n)%n, recv.Of(get))
	}
}
