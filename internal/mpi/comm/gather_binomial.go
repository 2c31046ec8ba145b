package comm

// binomialGather collects the parts along a binomial tree of ranks relative to the root. A member
// passes on the parts of its subtree, which follow each other.
//
//	⌈log2 n⌉ · α + (n-1)/n · m β
func (p *Plan) binomialGather(send, recv []byte, root int) {
	n, each := p.size(), len(send)
	relative := (p.rank() - root + n) % n
	end := subtree(relative, n)
	var parts []byte // of the subtree
	switch {
	case end == 1:
		parts = send
	case p.rank() == root && root == 0:
		parts = recv
		p.copy(parts[:each], send)
	default:
		parts = p.scratch(end * each)
		p.copy(parts[:each], send)
	}
	for bit := 1; bit < end; bit *= 2 {
		child := relative + bit
		p.receive((child+root)%n, parts[bit*each:min(2*bit, end)*each])
	}
	p.wait()
	switch {
	case relative != 0:
		p.send((relative&(relative-1)+root)%n, parts)
	case root != 0: // from the order relative to the root to the order of ranks
		p.copy(recv[root*each:], parts[:(n-root)*each])
		p.copy(recv[:root*each], parts[(n-root)*each:])
	}
}

// subtree is the number of members in the subtree of a relative rank.
func subtree(relative, n int) int {
	if relative == 0 {
		return n
	}
	return min(relative&-relative, n-relative)
}
