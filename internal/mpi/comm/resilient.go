package comm

// Resilient collectives are agreements with data: Barrier, and Reduce and Allreduce of up to
// resilientMost bytes with operations of the library. Each live member gets the same result, of the
// same contributors, and the same error, or none: process.ErrRankLost if a member hasn't contributed
// and one that has didn't acknowledge its failure before. Then there is no result. They heed revocations as little as agreements do: else some members might enter one and others not.
//
// Limits: larger ones, operations of the program, and those in the background aren't resilient.

// resilientMost is the largest data of a resilient reduction, in bytes.
const resilientMost = 4096

// SetResilient has small collectives survive the failure of members, at a higher price. All members
// call it, between the same collectives.
func (c *Comm) SetResilient(on bool) {
	c.resilient = on
	if on {
		c.closeCommons() // C would use it
		c.sharing.may = false
	}
}

// survives tells whether a collective is resilient, if the program waits for it.
func (c *Comm) survives(size int, op Op) bool {
	return c.resilient && size <= resilientMost && !op.Foreign
}

// runResilient carries a small collective out by an agreement.
func (p *Plan) runResilient() error {
	c, s := p.comm, p.small
	combine := func(into, from []byte) {}
	if s.op.Combiner != nil {
		combine = s.op.Combine
	}
	h, outcome := c.eng.AgreeOn(c.context, s.send, combine, c.strict)
	_, err := c.eng.Wait(h)
	if err == nil && len(s.send) > 0 && (s.root < 0 || s.root == c.rank) {
		copy(s.recv, outcome.Data)
	}
	err = c.wrap(p.op, err)
	p.release()
	return err
}
