package comm

// Allreduce combines the members' data in rank order and leaves the result in
// recv at every member, the same to the bit. size is the length of one element.
//
// Recursive doubling for small data: log2 n steps of the whole. From
// allreduceLarge on, recursive halving (a reduce-scatter) and then doubling (an
// allgather): 2 log2 n steps that move 2·(n-1)/n of the data. Both combine
// blocks of neighbouring ranks only, so the order is kept. Where n isn't a
// power of two, the first 2·(n-2^k) ranks fold in pairs before, and the even
// ones get the result after.
func (c *Comm) Allreduce(send, recv []byte, size int, combine Combine) error {
	const op = "Allreduce"
	if len(recv) != len(send) {
		return c.wrap(op, sizeError("the receive buffer", len(recv), len(send)))
	}
	copy(recv, send)
	if c.Size() == 1 {
		return nil
	}
	return c.wrap(op, c.begin().allreduce(recv, size, combine))
}

// allreduceLarge is from how many bytes on data is scattered.
const allreduceLarge = 32 << 10

// folded maps the ranks onto a power of two of members.
type folded struct {
	power int // members left after folding
	extra int // ranks beyond: so many pairs fold
	me    int // own place among those left, or -1
}

func (k call) fold() folded {
	f := folded{power: 1}
	for f.power*2 <= k.Size() {
		f.power *= 2
	}
	f.extra = k.Size() - f.power
	switch {
	case k.rank >= 2*f.extra:
		f.me = k.rank - f.extra
	case k.rank%2 == 1:
		f.me = k.rank / 2
	default:
		f.me = -1
	}
	return f
}

// rank is the rank of a place among those left.
func (f folded) rank(place int) int {
	if place < f.extra {
		return 2*place + 1
	}
	return place + f.extra
}

func (k call) allreduce(data []byte, size int, combine Combine) error {
	f := k.fold()
	if f.me < 0 {
		if err := k.send(k.rank+1, data); err != nil {
			return err
		}
		return k.recv(k.rank+1, data)
	}
	in := k.take(len(data))
	defer k.give(in)
	paired := k.rank < 2*f.extra
	if paired { // the left neighbour's data comes before one's own
		if err := k.recv(k.rank-1, in); err != nil {
			return err
		}
		combine(in, data)
		copy(data, in)
	}
	var err error
	if len(data) >= allreduceLarge && len(data)/size >= f.power {
		err = k.halveAndDouble(f, data, in, size, combine)
	} else {
		err = k.double(f, data, in, combine)
	}
	if err == nil && paired {
		err = k.send(k.rank-1, data)
	}
	return err
}

// double exchanges the whole data over ever larger distances.
func (k call) double(f folded, data, in []byte, combine Combine) error {
	for d := 1; d < f.power; d *= 2 {
		peer := f.rank(f.me ^ d)
		if err := k.exchange(peer, data, peer, in); err != nil {
			return err
		}
		merge(data, in, f.me&d != 0, combine)
	}
	return nil
}

// merge combines what a neighbouring block holds into one's own; left says that
// the other block comes first.
func merge(data, in []byte, left bool, combine Combine) {
	if !left {
		combine(data, in)
		return
	}
	combine(in, data)
	copy(data, in)
}

// halveAndDouble keeps half of the range at each step, then collects the parts
// in the opposite order.
func (k call) halveAndDouble(f folded, data, in []byte, size int, combine Combine) error {
	lo, hi := 0, len(data)/size
	type part struct{ lo, mid, hi int }
	var parts [32]part
	steps := 0
	for d := 1; d < f.power; d *= 2 {
		mid := lo + (hi-lo)/2
		parts[steps] = part{lo, mid, hi}
		steps++
		peer := f.rank(f.me ^ d)
		upper := f.me&d != 0 // who keeps the upper half is the right block
		keepLo, keepHi, goLo, goHi := lo, mid, mid, hi
		if upper {
			keepLo, keepHi, goLo, goHi = mid, hi, lo, mid
		}
		mine, theirs := data[keepLo*size:keepHi*size], in[keepLo*size:keepHi*size]
		if err := k.exchange(peer, data[goLo*size:goHi*size], peer, theirs); err != nil {
			return err
		}
		merge(mine, theirs, upper, combine)
		lo, hi = keepLo, keepHi
	}
	for d := f.power / 2; d > 0; d /= 2 {
		steps--
		p := parts[steps]
		peer := f.rank(f.me ^ d)
		have, want := data[p.lo*size:p.mid*size], data[p.mid*size:p.hi*size]
		if f.me&d != 0 {
			have, want = want, have
		}
		if err := k.exchange(peer, have, peer, want); err != nil {
			return err
		}
	}
	return nil
}
