package comm

// Where members share cores, the time goes into giving each member a core in turn, not into
// messages: each round of messages among all members takes one turn of all of them. So few rounds
// are best. An algorithm of ⌈log2 n⌉ rounds is slower than one in which all members tell the first
// one, which does the work and tells all. That is one round, since a member that hears the answer
// goes on to its next operation in the same turn.

// gatheredBarrier: each member tells the first one, which then tells each of them.
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

// gathered is the most bytes of data, of all members, that the first member holds at a time.
const gathered = 4 << 10

// gatheredAllreduce combines at the first member, in the order of doublingAllreduce. So the result
// is the same to the bit, however many cores there are.
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
	data := func(position int) []byte {
		first, _ := f.block(position)
		return of(first)
	}
	for d := 1; d < f.power; d *= 2 {
		for position := 0; position < f.power; position += 2 * d {
			p.combine(op, data(position), data(position+d))
		}
	}
	p.copy(recv, of(0))
	for r := 1; r < n; r++ {
		p.send(r, recv)
	}
}
