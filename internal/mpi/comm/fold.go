package comm

// folded maps the ranks onto a power of two of members: the first 2·extra ranks fold in pairs, and
// the odd rank of each pair goes on. So each member that is left stands for a block of neighbouring
// ranks, in their order.
type folded struct {
	power int // members left after folding
	extra int // ranks beyond: so many pairs fold
	me    int // position of this rank among those left, or -1
}

func fold(n, rank int) folded {
	f := folded{power: 1}
	for f.power*2 <= n {
		f.power *= 2
	}
	f.extra = n - f.power
	f.me = f.position(rank)
	return f
}

// position is the index of a rank among those left, or -1.
func (f folded) position(rank int) int {
	switch {
	case rank >= 2*f.extra:
		return rank - f.extra
	case rank%2 == 1:
		return rank / 2
	}
	return -1
}

// rank is the rank at a position among those left.
func (f folded) rank(position int) int {
	if position < f.extra {
		return 2*position + 1
	}
	return position + f.extra
}

// block are the ranks that a position stands for: first ≤ rank < end.
func (f folded) block(position int) (first, end int) {
	if position < f.extra {
		return 2 * position, 2*position + 2
	}
	return position + f.extra, position + f.extra + 1
}

// paired tells whether a rank has a partner in the folding.
func (f folded) paired(rank int) bool { return rank < 2*f.extra }
