package comm

// Reduce combines the members' data in rank order and leaves the result in recv
// at the root. send and recv are the same number of whole elements; recv is
// used at the root only.
//
// A binomial tree to rank 0, whose inner nodes combine blocks of neighbouring
// ranks, and one more message if the root isn't 0: the result is the same for
// every root. ⌈log2 n⌉ (+1) steps, n-1 (+1) messages.
func (c *Comm) Reduce(send, recv []byte, combine Combine, root int) error {
	const op = "Reduce"
	if err := c.checkRoot(op, root); err != nil {
		return err
	}
	if c.rank == root && len(recv) != len(send) {
		return c.wrap(op, sizeError("the receive buffer", len(recv), len(send)))
	}
	k := c.begin()
	acc := c.take(len(send))
	defer c.give(acc)
	copy(acc, send)
	if err := k.reduceToZero(acc, combine); err != nil {
		return c.wrap(op, err)
	}
	switch {
	case c.rank == 0 && root == 0:
		copy(recv, acc)
	case c.rank == 0:
		return c.wrap(op, k.send(root, acc))
	case c.rank == root:
		return c.wrap(op, k.recv(0, recv))
	}
	return nil
}

// reduceToZero leaves at rank 0 the combination of everyone's acc; elsewhere
// acc is spoiled.
func (k call) reduceToZero(acc []byte, combine Combine) error {
	in := k.take(len(acc))
	defer k.give(in)
	for bit := 1; bit < k.Size(); bit *= 2 {
		if k.rank&bit != 0 {
			return k.send(k.rank&^bit, acc)
		}
		if k.rank|bit < k.Size() {
			if err := k.recv(k.rank|bit, in); err != nil {
				return err
			}
			combine(acc, in)
		}
	}
	return nil
}
