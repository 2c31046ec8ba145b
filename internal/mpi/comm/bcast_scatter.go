package comm

// A broadcast by messages scatters its data from scatteredBcast bytes and scatteredBcastMembers
// members on.
const (
	scatteredBcast        = 128 << 10
	scatteredBcastMembers = 4
)

// scatteredBcast scatters the data over a binomial tree, one part for each member. Then the parts
// go round a ring.
//
//	(⌈log2 n⌉ + n - 1) · α + 2 (n-1)/n · m β
func (p *Plan) scatteredBcast(data []byte, root int) {
	n := p.size()
	relative := (p.rank() - root + n) % n
	each := (len(data) + n - 1) / n
	// parts are those of the relative ranks from lo up to hi.
	parts := func(lo, hi int) []byte {
		return data[min(lo*each, len(data)):min(hi*each, len(data))]
	}
	bit := 1
	for bit < n && relative&bit == 0 {
		bit *= 2
	}
	if relative != 0 {
		p.receive((relative-bit+root)%n, parts(relative, min(relative+bit, n)))
		p.wait()
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if child := relative + bit; child < n {
			p.send((child+root)%n, parts(child, min(child+bit, n)))
		}
	}
	p.wait()
	for step := range n - 1 {
		give, get := (relative-step+n)%n, (relative-step-1+n)%n
		p.exchange((p.rank()+1)%n, parts(give, give+1), (p.rank()-1+n)%n, parts(get, get+1))
	}
}
