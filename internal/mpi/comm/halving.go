package comm

// span is a range of bytes.
type span struct{ lo, hi int }

func (s span) of(data []byte) []byte { return data[s.lo:s.hi] }

// split is one step of recursive halving: what a member keeps, and what it gives to its peer.
type split struct{ keep, give span }

// halve is a reduce-scatter by recursive halving over the members that folding left. In each step
// two members exchange halves of what they have: first neighbours, then pairs of pairs. So they
// always combine neighbouring blocks, each in rank order. The operand is in source, which isn't
// changed unless it is data. halve returns the steps, and the buffer, data or spare, that holds the
// part kept in the last step.
//
// The range may be cut only at bounds, one more than there are parts.
//
//	log2 n · α + (n-1)/n · m (β + γ)
func (p *Plan) halve(f folded, bounds func(part int) int, parts int, source, data, spare []byte, op Op) (splits [32]split, left []byte) {
	lo, hi, steps := 0, parts, 0
	for d := 1; d < f.power; d *= 2 {
		mid := lo + (hi-lo)/2
		lower, upper := span{bounds(lo), bounds(mid)}, span{bounds(mid), bounds(hi)}
		s := split{keep: lower, give: upper}
		isUpper := f.me&d != 0
		if isUpper {
			s.keep, s.give = upper, lower
			lo = mid
		} else {
			hi = mid
		}
		splits[steps] = s
		steps++
		peer := f.rank(f.me ^ d)
		p.exchange(peer, s.give.of(source), peer, s.keep.of(spare))
		if isUpper { // the peer's block comes first
			p.combine(op, s.keep.of(spare), s.keep.of(source))
			data, spare = spare, data
		} else {
			p.copy(s.keep.of(data), s.keep.of(source))
			p.combine(op, s.keep.of(data), s.keep.of(spare))
		}
		source = data
	}
	return splits, data
}

// log2 of a power of two.
func log2(power int) int {
	n := 0
	for ; power > 1; power /= 2 {
		n++
	}
	return n
}
