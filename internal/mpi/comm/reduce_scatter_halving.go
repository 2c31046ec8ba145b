package comm

import "math/bits"

// halvingReduceScatter puts the parts into an order in which recursive halving (halving.go) leaves
// each part at its owner.
//
// In step i a member keeps the half that bit i of its position names, so the first bit decides
// most: position b ends with the part whose index is b with its bits reversed.
//
//	log2 n · α + (n-1)/n · m (β + γ), and a step of the whole and one of a part more if
//	n is no power of two
func (p *Plan) halvingReduceScatter(send, recv []byte, starts []int, op Op) {
	f := fold(p.size(), p.rank())
	if f.me < 0 {
		p.send(p.rank()+1, send)
		p.wait() // recv may be a part of send
		p.receive(p.rank()+1, recv)
		return
	}
	data, work, spare := send, p.scratch(len(send)), p.scratch(len(send))
	if f.paired(p.rank()) {
		p.receive(p.rank()-1, work)
		p.wait()
		p.combine(op, work, send) // the left neighbour's data comes first
		data = work
	}
	width := log2(f.power)
	bounds := p.numbers(1, f.power+1)
	bounds[0] = 0
	for i := range f.power {
		first, end := f.block(reversed(i, width))
		part := data[starts[first]:starts[end]]
		bounds[i+1] = bounds[i] + len(part)
		p.copy(spare[bounds[i]:bounds[i+1]], part)
	}
	_, data = p.halve(f, func(i int) int { return bounds[i] }, f.power, spare, spare, work, op)

	at := bounds[reversed(f.me, width)]
	first, end := f.block(f.me)
	for r := first; r < end; r++ {
		part := data[at : at+starts[r+1]-starts[r]]
		if at += len(part); r == p.rank() {
			p.copy(recv, part)
		} else {
			p.send(r, part)
		}
	}
}

// reversed is a number with its given number of bits in the opposite order.
func reversed(i, width int) int {
	if width == 0 {
		return i
	}
	return int(bits.Reverse64(uint64(i)) >> (64 - width))
}
