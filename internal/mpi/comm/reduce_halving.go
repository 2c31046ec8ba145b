package comm

// halvingReduce is a reduce-scatter by recursive halving; then the parts are gathered at the root
// (Rabenseifner).
//
//	2 log2 n · α + 2 (n-1)/n · m β + (n-1)/n · m γ, and a step of the whole more if n is
//	no power of two, and another if the root then folds
func (p *Plan) halvingReduce(f folded, send, recv []byte, op Op, root int) {
	rank := p.rank()
	target := f.position(root)
	if target < 0 {
		target = f.position(root + 1) // the root's partner passes the result on
	}
	room := recv
	if rank != root && f.me >= 0 {
		room = p.scratch(len(send))
	}
	source, data, spare := p.foldIn(f, send, room, op)
	if f.me < 0 {
		if rank == root {
			p.receive(rank+1, recv)
		}
		return
	}
	splits, left := p.halve(f, elements(op), len(send)/op.Size, source, data, spare, op)
	last := log2(f.power) - 1
	p.copy(splits[last].keep.of(room), splits[last].keep.of(left))
	for i := last; i >= 0; i-- {
		peer := f.rank(f.me ^ 1<<i)
		if (f.me^target)>>i&1 != 0 { // the peer is nearer to the root
			p.send(peer, splits[i].keep.of(room))
			return
		}
		p.receive(peer, splits[i].give.of(room))
		p.wait()
	}
	if f.rank(target) != root {
		p.send(root, room)
	}
}
