package comm

// binomialScatter sends the parts down a binomial tree of ranks relative to the root. The parts of
// a subtree travel together.
//
//	⌈log2 n⌉ · α + (n-1)/n · m β
func (p *Plan) binomialScatter(send, recv []byte, root int) {
	n, each := p.size(), len(recv)
	relative := (p.rank() - root + n) % n
	end := subtree(relative, n)
	var parts []byte // of the subtree
	switch {
	case end == 1:
		parts = recv
	case relative == 0 && root == 0:
		parts = send
	default:
		parts = p.scratch(end * each)
	}
	if relative != 0 {
		p.receive((relative&(relative-1)+root)%n, parts)
		p.wait()
	} else if root != 0 { // into the order relative to the root
		p.copy(parts[:(n-root)*each], send[root*each:])
		p.copy(parts[(n-root)*each:], send[:root*each])
	}
	top := 1
	for top < end {
		top *= 2
	}
	for bit := top / 2; bit > 0; bit /= 2 { // the largest subtree first
		p.send((relative+bit+root)%n, parts[bit*each:min(2*bit, end)*each])
	}
	p.copy(recv, parts[:each])
}
