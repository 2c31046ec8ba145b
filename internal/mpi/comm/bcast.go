package comm

import "banyan/internal/runtime/commons"

// Bcast brings the root's data to every member.
//
// In a job without replicas it reaches every live member as long as the root lives, although others
// are dead or die meanwhile. It runs over corrected trees (bcast_corrected.go). Where all members
// can read the root's memory they read large data from there (bcast_direct.go). The root itself
// sends all data to a few members, and large data to any number that share cores (bcast_flat.go).
// If the job's user has named a tree it runs over that. In a job with replicas it consists of
// messages, since corrections aren't send-deterministic.
func (c *Comm) Bcast(data []byte, root int) *Plan {
	p := c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	p.givesRooted(root, data)
	if c.isSmall(len(data), len(data)) {
		p.small = small{kind: commons.Bcast, root: root, recv: data}
	} else {
		p.bcastSteps(data, root)
	}
	return p
}

// bcastSteps is Bcast by messages.
func (p *Plan) bcastSteps(data []byte, root int) {
	switch p.comm.cast {
	case castByRoot:
		p.flatBcast(data, root)
	case castByMessages:
		p.messageBcast(data, root)
	case castByMemory:
		switch {
		case len(data) <= directBcast:
			p.correctedBcast(data, root)
		case p.comm.oversubscribed:
			p.flatBcast(data, root)
		default:
			p.directBcast(data, root)
		}
	default:
		p.correctedBcast(data, root)
	}
}

// caster is how a communicator broadcasts: the same at all members.
type caster uint8

const (
	castByRoot     caster = iota // the root itself sends to all
	castByTrees                  // over corrected trees
	castByMemory                 // the same, but all get large data from the root, or from its memory
	castByMessages               // over a tree of messages
)

func (c *Comm) caster() caster {
	switch {
	case c.Size() == 1 || c.copies:
		return castByMessages
	case c.eng.NamesTree():
		return castByTrees
	case c.Size() == 2 || c.shared && c.Size() <= flatBcastMembers:
		return castByRoot
	case c.shared:
		return castByMemory
	}
	return castByTrees
}

// MessageBcast is Bcast by messages in every job. Plans that are kept use it, since members may
// start them in different orders.
func (c *Comm) MessageBcast(data []byte, root int) *Plan {
	p := c.plan("Bcast")
	if err := c.checkRoot(root); err != nil {
		return p.fail(err)
	}
	p.givesRooted(root, data)
	p.messageBcast(data, root)
	return p
}

func (p *Plan) messageBcast(data []byte, root int) {
	if len(data) >= scatteredBcast && p.size() >= scatteredBcastMembers {
		p.scatteredBcast(data, root)
	} else {
		p.binomialBcast(data, root)
	}
}
