package comm

import "banyan/internal/progress"

// blocks are consecutive parts of a buffer, one for each member.
type blocks struct {
	data  []byte
	start []int // len(members)+1 offsets
}

// cut divides data by counts of elements of size bytes. Without counts the
// parts are all of length each.
func (c *Comm) cut(what string, data []byte, counts []int, size, each int) (blocks, error) {
	b := blocks{data, make([]int, c.Size()+1)}
	if counts != nil && len(counts) != c.Size() {
		return b, sizeError("the list of counts", len(counts), c.Size())
	}
	for i := range c.Size() {
		n := each
		if counts != nil {
			if counts[i] < 0 {
				return b, sizeError("a count", counts[i], 0)
			}
			n = counts[i] * size
		}
		b.start[i+1] = b.start[i] + n
	}
	if total := b.start[c.Size()]; len(data) != total {
		return b, sizeError(what, len(data), total)
	}
	return b, nil
}

func (b blocks) of(i int) []byte { return b.data[b.start[i]:b.start[i+1]] }

// Gatherv collects the members' data at the root, in rank order: counts[i]
// elements of size bytes from rank i (nil: as many from each as the root
// sends). recv and counts are used at the root only.
//
// The root receives from all at once: n-1 messages, one step.
func (c *Comm) Gatherv(send, recv []byte, counts []int, size, root int) error {
	const op = "Gather"
	if err := c.checkRoot(op, root); err != nil {
		return err
	}
	k := c.begin()
	if c.rank != root {
		return c.wrap(op, k.send(root, send))
	}
	b, err := c.cut("the receive buffer", recv, counts, size, len(send))
	if err != nil {
		return c.wrap(op, err)
	}
	if own := b.of(root); len(own) != len(send) {
		return c.wrap(op, sizeError("the root's own part", len(send), len(own)))
	}
	copy(b.of(root), send)
	return c.wrap(op, k.fromAll(b))
}

// fromAll receives every other member's part.
func (k call) fromAll(b blocks) error {
	hs := make([]progress.Handle, 0, k.Size())
	sizes := make([]int, 0, k.Size())
	for i := range k.Size() {
		if i != k.rank {
			hs = append(hs, k.irecv(i, b.of(i)))
			sizes = append(sizes, len(b.of(i)))
		}
	}
	return k.finish(hs, sizes)
}

// Scatterv is the opposite: the root's parts go to the members.
//
// n-1 messages, one step.
func (c *Comm) Scatterv(send []byte, counts []int, recv []byte, size, root int) error {
	const op = "Scatter"
	if err := c.checkRoot(op, root); err != nil {
		return err
	}
	k := c.begin()
	if c.rank != root {
		return c.wrap(op, k.recv(root, recv))
	}
	b, err := c.cut("the send buffer", send, counts, size, len(recv))
	if err != nil {
		return c.wrap(op, err)
	}
	if own := b.of(root); len(own) != len(recv) {
		return c.wrap(op, sizeError("the root's own part", len(recv), len(own)))
	}
	copy(recv, b.of(root))
	hs := make([]progress.Handle, 0, k.Size())
	sizes := make([]int, 0, k.Size())
	for i := range k.Size() {
		if i != k.rank {
			hs = append(hs, k.isend(i, b.of(i)))
			sizes = append(sizes, -1)
		}
	}
	return c.wrap(op, k.finish(hs, sizes))
}

// Allgatherv leaves everyone's data at every member, in rank order; counts as
// for Gatherv, the same at all.
//
// A ring: each member passes on what it got last. n-1 steps, each moves a part.
func (c *Comm) Allgatherv(send, recv []byte, counts []int, size int) error {
	const op = "Allgather"
	b, err := c.cut("the receive buffer", recv, counts, size, len(send))
	if err != nil {
		return c.wrap(op, err)
	}
	if own := b.of(c.rank); len(own) != len(send) {
		return c.wrap(op, sizeError("the send buffer", len(send), len(own)))
	}
	copy(b.of(c.rank), send)
	k := c.begin()
	n := c.Size()
	for step := range n - 1 {
		give, get := (c.rank-step+n)%n, (c.rank-step-1+n)%n
		if err := k.exchange((c.rank+1)%n, b.of(give), (c.rank-1+n)%n, b.of(get)); err != nil {
			return c.wrap(op, err)
		}
	}
	return nil
}

// Alltoall sends the i-th part of send to rank i and receives its part for this
// rank as the i-th of recv. All parts are of the same number of elements of size
// bytes.
func (c *Comm) Alltoall(send, recv []byte, size int) error {
	const op = "Alltoall"
	if whole := c.Size() * size; len(send)%whole != 0 {
		return c.wrap(op, sizeError("the send buffer", len(send), (len(send)/whole+1)*whole))
	}
	return c.alltoall(op, send, nil, recv, nil, size, len(send)/c.Size())
}

// Alltoallv is Alltoall for parts of different lengths: sendCounts[i] elements go
// to rank i, and recvCounts[i] come from it.
func (c *Comm) Alltoallv(send []byte, sendCounts []int, recv []byte, recvCounts []int, size int) error {
	const op = "Alltoallv"
	if sendCounts == nil || recvCounts == nil {
		return c.wrap(op, sizeError("the list of counts", 0, c.Size()))
	}
	return c.alltoall(op, send, sendCounts, recv, recvCounts, size, 0)
}

// alltoall exchanges in step s with those s ahead and s behind: n-1 steps.
func (c *Comm) alltoall(op string, send []byte, sendCounts []int, recv []byte, recvCounts []int, size, each int) error {
	out, err := c.cut("the send buffer", send, sendCounts, size, each)
	if err != nil {
		return c.wrap(op, err)
	}
	in, err := c.cut("the receive buffer", recv, recvCounts, size, each)
	if err != nil {
		return c.wrap(op, err)
	}
	if own := in.of(c.rank); len(own) != len(out.of(c.rank)) {
		return c.wrap(op, sizeError("this rank's own part", len(own), len(out.of(c.rank))))
	}
	copy(in.of(c.rank), out.of(c.rank))
	k := c.begin()
	n := c.Size()
	for s := 1; s < n; s++ {
		to, from := (c.rank+s)%n, (c.rank-s+n)%n
		if err := k.exchange(to, out.of(to), from, in.of(from)); err != nil {
			return c.wrap(op, err)
		}
	}
	return nil
}
