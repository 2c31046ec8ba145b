package comm

// doublingAllgather exchanges all that a member has over ever larger distances, for
// a power of two of members.
//
//	log2 n · α + (n-1)/n · m β
func (p *Plan) doublingAllgather(recv []byte, each int) {
	for d := 1; d < p.size(); d *= 2 {
		peer := p.rank() ^ d
		mine, theirs := p.rank()&^(d-1), peer&^(d-1)
		p.exchange(peer, recv[mine*each:(mine+d)*each], peer, recv[theirs*each:(theirs+d)*each])
	}
}
