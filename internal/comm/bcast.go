package comm

// Bcast brings the root's data to every member.
//
// Unreplicated, it runs over corrected trees (bcast_corrected.go): it reaches
// every live member as long as the root lives, whoever else is dead or dies
// meanwhile. Replicated, it is made of messages, since corrections are not
// send-deterministic.
func (c *Comm) Bcast(data []byte, root int) *Plan {
	if c.Size() > 1 && !c.replicated() {
		return c.correctedBcast(data, root)
	}
	return c.MessageBcast(data, root)
}

// MessageBcast is Bcast by messages, also in unreplicated jobs: for plans that are
// kept, which may be started in different orders.
func (c *Comm) MessageBcast(data []byte, root int) *Plan {
	p := c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	if n := c.Size(); len(data) >= scatteredBcast && n >= scatteredBcastMembers {
		p.scatteredBcast(data, root)
	} else {
		p.binomialBcast(data, root)
	}
	return p
}
