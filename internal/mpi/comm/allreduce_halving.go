package comm

// halvingAllreduce is a reduce-scatter by recursive halving and an allgather by
// recursive doubling (Rabenseifner).
//
//	2 log2 n · α + 2 (n-1)/n · m β + (n-1)/n · m γ, and two steps of the whole more if
//	n is no power of two
func (p *Plan) halvingAllreduce(f folded, send, recv []byte, op Op) {
	source, data, spare := p.foldIn(f, send, recv, op)
	if f.me < 0 {
		p.receive(p.rank()+1, recv)
		p.wait()
		return
	}
	splits, left := p.halve(f, elements(op), len(send)/op.Size, source, data, spare, op)
	last := log2(f.power) - 1
	p.copy(splits[last].keep.of(recv), splits[last].keep.of(left))
	for i := last; i >= 0; i-- { // the same steps backwards bring the other halves
		peer := f.rank(f.me ^ 1<<i)
		p.exchange(peer, splits[i].keep.of(recv), peer, splits[i].give.of(recv))
	}
	if f.paired(p.rank()) {
		p.send(p.rank()-1, recv)
	}
}

// elements are bounds between single elements.
func elements(op Op) func(int) int { return func(i int) int { return i * op.Size } }
