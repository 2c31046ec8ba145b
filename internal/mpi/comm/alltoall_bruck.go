package comm

// bruckAlltoall sends, in round k, to the member 2^k ahead all parts whose remaining distance has
// bit k set.
//
//	⌈log2 n⌉ · α + ⌈log2 n⌉/2 · m β, and copies of as much
func (p *Plan) bruckAlltoall(send, recv []byte, each int) {
	n, rank := p.size(), p.rank()
	part := func(b []byte, i int) []byte { return b[i*each : (i+1)*each] }
	// held[i] has the distance i to travel. It does one bit of that a round, the lowest first.
	held := p.scratch(len(send))
	p.copy(held[:(n-rank)*each], send[rank*each:])
	p.copy(held[(n-rank)*each:], send[:rank*each])
	half := (n + 1) / 2 * each
	out, in := p.scratch(half), p.scratch(half)
	for d := 1; d < n; d *= 2 {
		parts := 0
		for i := d; i < n; i++ {
			if i&d != 0 {
				p.copy(part(out, parts), part(held, i))
				parts++
			}
		}
		p.exchange((rank+d)%n, out[:parts*each], (rank-d+n)%n, in[:parts*each])
		parts = 0
		for i := d; i < n; i++ {
			if i&d != 0 {
				p.copy(part(held, i), part(in, parts))
				parts++
			}
		}
	}
	for i := range n { // held[i] has travelled the distance i
		p.copy(part(recv, (rank-i+n)%n), part(held, i))
	}
}
