package comm

import (
	"banyan/internal/process"
	"banyan/internal/progress"
)

// Bcast brings the root's data to every member.
//
// Unreplicated, it runs over corrected trees (internal/proto/broadcast): it
// reaches every live member as long as the root lives, whoever else is dead or
// dies meanwhile. Replicated, it is a binomial tree over replication, since
// corrections are not send-deterministic: ⌈log2 n⌉ steps, n-1 messages.
func (c *Comm) Bcast(data []byte, root int) error {
	if err := c.checkRoot("Bcast", root); err != nil {
		return err
	}
	if c.Size() == 1 {
		return nil
	}
	if c.replicated() {
		return c.wrap("Bcast", c.begin().binomial(data, root))
	}
	return c.wrap("Bcast", c.corrected(data, root))
}

// pipelined is how many segments of one Bcast are under way at a time.
const pipelined = 8

// corrected cuts the data into segments that follow each other down the tree.
// All are full but the last, which is not (it may be empty): so members that
// disagree about the size notice, even at a multiple of the segment size.
func (c *Comm) corrected(data []byte, root int) error {
	var window [pipelined]progress.Handle
	var first error
	segments := len(data)/process.SegmentLimit + 1
	for i := 0; i < segments+pipelined; i++ {
		h := &window[i%pipelined]
		if i >= pipelined {
			if _, err := c.eng.Wait(*h); err != nil && first == nil {
				first = err
			}
		}
		*h = progress.Handle{}
		if i < segments && first == nil {
			from := i * process.SegmentLimit
			to := min(from+process.SegmentLimit, len(data))
			*h = c.eng.Broadcast(c.context|collectivePart, root, data[from:to])
		}
	}
	return first
}

// binomial sends the data down a binomial tree of ranks relative to the root.
func (k call) binomial(data []byte, root int) error {
	n := k.Size()
	relative := (k.rank - root + n) % n
	// The lowest set bit names the parent; the root's is above them all.
	bit := 1
	for bit < n && relative&bit == 0 {
		bit *= 2
	}
	if relative != 0 {
		if err := k.recv((relative-bit+root)%n, data); err != nil {
			return err
		}
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if relative+bit < n {
			if err := k.send((relative+bit+root)%n, data); err != nil {
				return err
			}
		}
	}
	return nil
}
