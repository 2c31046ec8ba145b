package comm

// Bcast brings the root's data to every member.
//
// Unreplicated, it reaches every live member as long as the root lives, whoever else
// is dead or dies meanwhile: over corrected trees (bcast_corrected.go), or, what is
// large, where all can read the root's memory, from there (bcast_direct.go); or, to few
// members, by messages of the root's own (bcast_flat.go). Replicated, it
// is made of messages, since corrections are not send-deterministic.
func (c *Comm) Bcast(data []byte, root int) *Plan {
	switch {
	case c.Size() == 1 || c.copies:
		return c.MessageBcast(data, root)
	case c.Size() == 2 || c.shared && c.Size() <= flatBcastMembers:
		return c.flatBcast(data, root)
	case len(data) > directBcast && c.shared:
		return c.directBcast(data, root)
	}
	return c.correctedBcast(data, root)
}

// MessageBcast is Bcast by messages, also in unreplicated jobs: for plans that are
// kept, which may be started in different orders.
func (c *Comm) MessageBcast(data []byte, root int) *Plan {
	p := c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	p.givesRooted(root, data)
	if n := c.Size(); len(data) >= scatteredBcast && n >= scatteredBcastMembers {
		p.scatteredBcast(data, root)
	} else {
		p.binomialBcast(data, root)
	}
	return p
}
