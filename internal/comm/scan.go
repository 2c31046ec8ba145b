package comm

// Scan leaves in recv the combination of the data of all ranks up to and
// including this one, in rank order.
//
// Recursive doubling: after round k each member holds the combination of the
// 2^(k+1) ranks that end with itself. ⌈log2 n⌉ rounds.
func (c *Comm) Scan(send, recv []byte, combine Combine) error {
	const op = "Scan"
	if len(recv) != len(send) {
		return c.wrap(op, sizeError("the receive buffer", len(recv), len(send)))
	}
	copy(recv, send)
	k := c.begin()
	in := c.take(len(recv))
	defer c.give(in)
	for d := 1; d < c.Size(); d *= 2 {
		up, down := c.rank+d, c.rank-d
		var err error
		switch {
		case up < c.Size() && down >= 0:
			err = k.exchange(up, recv, down, in)
		case up < c.Size():
			err = k.send(up, recv)
		case down >= 0:
			err = k.recv(down, in)
		}
		if err != nil {
			return c.wrap(op, err)
		}
		if down >= 0 {
			combine(in, recv)
			copy(recv, in)
		}
	}
	return nil
}
