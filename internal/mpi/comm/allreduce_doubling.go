package comm

// doublingAllreduce exchanges the whole data over ever larger distances.
//
//	⌈log2 n⌉ · (α + m β + m γ), and two steps more if n is no power of two
func (p *Plan) doublingAllreduce(f folded, send, recv []byte, op Op) {
	source, data, spare := p.foldIn(f, send, recv, op)
	if f.me < 0 {
		p.receive(p.rank()+1, recv)
		p.wait()
		return
	}
	p.copy(data, source)
	for d := 1; d < f.power; d *= 2 {
		peer := f.rank(f.me ^ d)
		p.exchange(peer, data, peer, spare)
		if f.me&d != 0 { // the peer's block comes first
			data, spare = spare, data
		}
		p.combine(op, data, spare)
	}
	p.copy(recv, data)
	if f.paired(p.rank()) {
		p.send(p.rank()-1, recv)
	}
}
