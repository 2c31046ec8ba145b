package rollback

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// What a Coordinator does when processes end, die, or are lost with their host.

// Leaving says that a rank's process comes to no safe point any more, because its program has
// finalised.
func (c *Coordinator) Leaving(r proto.Rank, e Epoch, out *[]Action) {
	if e != c.epoch || c.phase == falls || c.phase == over {
		return
	}
	c.ending = true
	switch {
	case c.loads || c.phase == fetches:
		c.fail(fmt.Sprintf("%v has finalised, and has come to no safe point: it can't go on from snapshot %d", r, c.committed), out)
	case c.phase >= holds && c.phase <= saves:
		c.abandon("", out)
	}
}

// Left says that a rank's process has ended in order.
func (c *Coordinator) Left(r proto.Rank, e Epoch, out *[]Action) {
	if m := &c.ranks[r]; e == c.epoch && m.alive {
		c.Leaving(r, e, out)
		m.alive, m.left = false, true
		c.restart(out)
	}
}

// Died takes the death of a rank's process, which hadn't left.
func (c *Coordinator) Died(r proto.Rank, e Epoch, out *[]Action) {
	m := &c.ranks[r]
	if e != c.epoch || !m.alive || c.phase == over {
		return
	}
	m.alive = false
	if c.phase != falls {
		c.fall(out)
	}
	c.restart(out)
}

// fall has all processes killed.
func (c *Coordinator) fall(out *[]Action) {
	c.discard(out)
	c.phase, c.loads, c.deadline = falls, false, proto.Never
	*out = append(*out, Action{Kind: Kill})
}

// discard forgets the snapshot that is being taken or copied.
func (c *Coordinator) discard(out *[]Action) {
	if c.taking == Beginning {
		return
	}
	*out = append(*out, Action{Kind: Discard, Snapshot: c.taking})
	c.taking = Beginning
	for i := range c.ranks {
		c.ranks[i].fresh = nil
	}
}

// HostLost says that the copies of a host are lost. Its processes' deaths are told by Died.
func (c *Coordinator) HostLost(h Host, out *[]Action) {
	lost := func(x Host) bool { return x == h }
	for i := range c.ranks {
		m := &c.ranks[i]
		m.copies = slices.DeleteFunc(slices.Clone(m.copies), lost)
		m.asked = slices.DeleteFunc(slices.Clone(m.asked), lost)
		if m.buddy == h {
			m.buddy = NoHost
		}
	}
	switch {
	case c.phase == falls || c.phase == over:
	case slices.ContainsFunc(c.ranks, func(m member) bool { return m.alive && m.home == h }):
		c.fall(out)
	case c.phase == fetches:
		c.fall(out) // a copy that is on its way may have come from there
	case c.taking != Beginning && c.phase == runs:
		c.abandon("a host is lost that was to keep copies", out)
	}
}

// restart starts all processes again when none is left.
func (c *Coordinator) restart(out *[]Action) {
	if c.phase != falls || slices.ContainsFunc(c.ranks, func(m member) bool { return m.alive }) {
		return
	}
	if c.restarts++; c.restarts > MaxRestarts {
		c.fail(fmt.Sprintf("the job has gone back %d times to %s: it doesn't come to the next one", MaxRestarts, c.place()), out)
		return
	}
	if c.lost(out) {
		return
	}
	c.epoch++
	for i := range c.ranks {
		c.ranks[i].sent = nil
	}
	*out = append(*out, Action{Kind: Restart, Epoch: c.epoch, Snapshot: c.committed})
}

// lost ends the job if a part of the committed snapshot has no copy left.
func (c *Coordinator) lost(out *[]Action) bool {
	for i := range c.ranks {
		if c.committed != Beginning && len(c.ranks[i].copies) == 0 {
			c.fail(fmt.Sprintf("all copies of the snapshot of %v are lost with their hosts", proto.Rank(i)), out)
			return true
		}
	}
	return false
}

// place is the committed snapshot in words.
func (c *Coordinator) place() string {
	if c.committed == Beginning {
		return "its beginning"
	}
	return fmt.Sprintf("snapshot %d", c.committed)
}
