package comm

// Where members share cores, what takes time isn't a message but that each member in turn
// gets a core: a round of messages among all is a round through all of them. So the fewer
// rounds the better, and algorithms that take ⌈log2 n⌉ of them lose against one where
// everybody tells the first member, who does the work and tells everybody: that is one round, since who
// hears the answer goes on to the next operation in the same turn.

// gatheredBarrier: each member tells the first, who then tells each.
//
//	2 (n-1) · α, and n turns
func (p *Plan) gatheredBarrier() {
	n := p.size()
	if p.rank() != 0 {
		p.send(0, nil)
		p.receive(0, nil)
		p.wait()
		return
	}
	for r := 1; r < n; r++ {
		p.receive(r, nil)
	}
	p.wait()
	for r := 1; r < n; r++ {
		p.send(r, nil)
	}
}

// gathered is up to how many bytes the first member has the data of all at a time.
const gathered = 4 << 10

// gatheredAllreduce combines at the first member, in the order of doublingAllreduce: the
// result is the same to the bit, however many cores there are.
//
//	2 (n-1) · (α + m β) + (n-1) m γ, and n turns
func (p *Plan) gatheredAllreduce(f folded, send, recv []byte, op Op) {
	n, m := p.size(), len(send)
	if p.rank() != 0 {
		p.send(0, send)
		p.wait() // recv may be send
		p.receive(0, recv)
		return
	}
	all := p.scratch(n * m)
	of := func(rank int) []byte { return all[rank*m : (rank+1)*m] }
	for r := 1; r < n; r++ {
		p.receive(r, of(r))
	}
	p.copy(of(0), send)
	p.wait()
	for pair := range f.extra {
		p.combine(op, of(2*pair), of(2*pair+1))
	}
	data := func(place int) []byte {
		first, _ := f.block(place)
		return of(first)
	}
	for d := 1; d < f.power; d *= 2 {
		for place := 0; place < f.power; place += 2 * d {
			p.combine(op, data(place), data(place+d))
		}
	}
	p.copy(recv, of(0))
	for r := 1; r < n; r++ {
		p.send(r, recv)
	}
}
