package comm

// binomialBcast sends the data down a binomial tree of ranks relative to the root.
//
//	⌈log2 n⌉ · (α + m β)
func (p *Plan) binomialBcast(data []byte, root int) {
	n := p.size()
	relative := (p.rank() - root + n) % n
	// The lowest set bit names the parent; the root's is above them all.
	bit := 1
	for bit < n && relative&bit == 0 {
		bit *= 2
	}
	if relative != 0 {
		p.receive((relative-bit+root)%n, data)
		p.wait()
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if relative+bit < n {
			p.send((relative+bit+root)%n, data)
		}
	}
}
