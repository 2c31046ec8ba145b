package rollback

import (
	"fmt"

	"banyan/internal/proto"
)

// In leader order what was decided before the first safe point is decided again when a job goes
// back, and each rank takes the outcome from its part. That works if all of it fits together: no
// rank has received, or seen, before its first safe point what another one sends behind its own.
// When a snapshot is loaded that isn't there, since all stand at their first safe points. So all
// stand there the first time, too (Gather): a process goes on when all have come.
//
// A program in which some rank comes to none until others have gone on would wait for ever. After a
// share of the limit all go on; then parts have nothing of that (Order.Repeats), and what comes
// before the first safe point is decided anew.

// gatherShare is which share of the limit ranks stand at their first safe point.
const gatherShare = 10

// Led says that all ranks have replicas in leader order. It is called before Began.
func (c *Coordinator) Led() { c.led = true }

// gather begins an epoch at the program's beginning.
func (c *Coordinator) gather() {
	c.phase = runs
	if c.led {
		c.enter(gathers)
	}
}

// came notes that a process stands at its first safe point, or won't.
func (c *Coordinator) came(now proto.Time, p proto.Proc, out *[]Action) {
	if c.deadline == proto.Never {
		c.deadline = now + c.limit/gatherShare
	}
	c.members[p].said = true
	c.gathered(out)
}

// gathered lets all go on if all have come.
func (c *Coordinator) gathered(out *[]Action) {
	if c.phase == gathers && c.allSaid() {
		c.disperse(out)
	}
}

// apart lets all go on, though some haven't come.
func (c *Coordinator) apart(out *[]Action) {
	c.loose = true
	text := fmt.Sprintf("not all ranks came to their first safe point in time (%s): if the job goes back, what timing decides before that may come out otherwise", c.late())
	c.disperse(out)
	*out = append(*out, Action{Kind: Apart, Text: text})
}

func (c *Coordinator) disperse(out *[]Action) {
	c.phase, c.deadline = runs, proto.Never
	c.tellAll(Order{Kind: Resume, Snapshot: Beginning}, out)
}

// tellHere tells a process that the part which it is to load is at its host.
func (c *Coordinator) tellHere(p proto.Proc, out *[]Action) {
	*out = append(*out, Action{Kind: Tell, Proc: p, Order: Order{Kind: Start, Snapshot: c.committed}})
}

// Gather has a process of an epoch that begins at the program's beginning stand at its first safe
// point until all have come to theirs. It is called before that, at all processes or none.
func (p *Participant) Gather() {
	if p.stage == free && p.passed == 0 {
		p.snapshot, p.stage = Beginning, awaiting
	}
}
