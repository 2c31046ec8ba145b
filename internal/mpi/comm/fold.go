package comm

// folded maps the ranks onto a power of two of members: the first 2·extra ranks
// fold in pairs, of which the odd ones go on. So those that are left stand for
// blocks of neighbouring ranks, in their order.
type folded struct {
	power int // members left after folding
	extra int // ranks beyond: so many pairs fold
	me    int // own place among those left, or -1
}

func fold(n, rank int) folded {
	f := folded{power: 1}
	for f.power*2 <= n {
		f.power *= 2
	}
	f.extra = n - f.power
	f.me = f.place(rank)
	return f
}

// place is a rank's place among those left, or -1.
func (f folded) place(rank int) int {
	switch {
	case rank >= 2*f.extra:
		return rank - f.extra
	case rank%2 == 1:
		return rank / 2
	}
	return -1
}

// rank is the rank of a place among those left.
func (f folded) rank(place int) int {
	if place < f.extra {
		return 2*place + 1
	}
	return place + f.extra
}

// block are the ranks that a place stands for, from first up to end.
func (f folded) block(place int) (first, end int) {
	if place < f.extra {
		return 2 * place, 2*place + 2
	}
	return place + f.extra, place + f.extra + 1
}

// paired tells whether a rank has a partner in the folding.
func (f folded) paired(rank int) bool { return rank < 2*f.extra }
