package rollback

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// What a Coordinator does when processes end, die, are lost with their host, or are replaced.

// Holds says whether a part of the committed snapshot is at a place, or on its way there.
func (c *Coordinator) Holds(x Place) bool {
	s := c.shareOf(x.Proc)
	return slices.Contains(s.copies, x) || slices.Contains(s.asked, x)
}

// Leaving says that a process comes to no safe point any more, because its program has finalised.
func (c *Coordinator) Leaving(p proto.Proc, e Epoch, out *[]Action) {
	if e != c.epoch || c.phase == falls || c.phase == over {
		return
	}
	c.ending = true
	switch {
	case c.Loading():
		c.fail(fmt.Sprintf("%s has finalised, and has come to no safe point: it can't go on from snapshot %d", c.name(p), c.committed), out)
	case c.phase >= holds && c.phase <= saves:
		c.abandon("", out)
	case c.phase == gathers:
		c.members[p].said = true
		c.gathered(out)
	}
}

// Left says that a process has ended in order.
func (c *Coordinator) Left(p proto.Proc, e Epoch, out *[]Action) {
	if m := &c.members[p]; e == c.epoch && m.alive {
		c.Leaving(p, e, out)
		m.alive, m.left = false, true
		c.restart(out)
	}
}

// Died takes the death of a process, which hadn't left. saved says that a replacement of another
// replica of its rank may have its state: then it isn't known before the end of that (Joined,
// EndJoining) whether the rank is lost.
func (c *Coordinator) Died(p proto.Proc, e Epoch, saved bool, out *[]Action) {
	m := &c.members[p]
	if e != c.epoch || !m.alive || c.phase == over {
		return
	}
	m.alive = false
	switch {
	case c.phase == falls:
	case c.Loading() || c.rankLost(c.layout.Rank(p)) && !saved:
		c.fall(out)
	case c.phase >= holds && c.phase <= saves:
		c.abandon("", out)
	default:
		c.gathered(out)
	}
	c.restart(out)
}

// rankLost says whether no replica of a rank is left.
func (c *Coordinator) rankLost(r proto.Rank) bool {
	for k := range c.layout.Degree(r) {
		if m := &c.members[c.layout.Proc(r, k)]; m.alive || m.left {
			return false
		}
	}
	return true
}

// Busy says that a snapshot is being taken, copied or loaded, or that the job is on its way back.
func (c *Coordinator) Busy() bool { return c.phase != runs || c.taking != Beginning }

// Joins says that a replacement for a dead replica is about to be started: no snapshot is taken
// until EndJoining. It returns false, and none may be started, while the Coordinator is
// Busy: a replacement has no part in a snapshot, and may get memory that has one.
func (c *Coordinator) Joins(p proto.Proc) bool {
	if c.Busy() {
		return false
	}
	c.members[p].joining = true
	return true
}

// Joined says that a replacement has its donor's state, and where it runs: it is a replica.
func (c *Coordinator) Joined(p proto.Proc, home, buddy Host) {
	if c.phase == falls || c.phase == over {
		return
	}
	c.members[p] = member{alive: true, joining: true, home: home, buddy: buddy}
}

// EndJoining says that all know a replacement, or that it has failed.
func (c *Coordinator) EndJoining(p proto.Proc, out *[]Action) {
	m := &c.members[p]
	if m.joining = false; c.phase != falls && c.phase != over && c.rankLost(c.layout.Rank(p)) {
		c.fall(out)
		c.restart(out)
	}
}

// joins says whether a replacement is on its way.
func (c *Coordinator) joins() bool {
	return slices.ContainsFunc(c.members, func(m member) bool { return m.joining })
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
	for r := range c.shares {
		c.shares[r].fresh, c.shares[r].awaited = nil, nil
	}
}

// HostLost says that the copies of a host are lost. Its processes' deaths are told by Died. buddy
// is where second copies go from now on.
func (c *Coordinator) HostLost(h Host, buddy []Host, out *[]Action) {
	lost := func(x Place) bool { return x.Host == h }
	for r := range c.shares {
		s := &c.shares[r]
		s.copies = slices.DeleteFunc(slices.Clone(s.copies), lost)
		s.asked = slices.DeleteFunc(slices.Clone(s.asked), lost)
	}
	for i := range c.members {
		c.members[i].buddy = buddy[i]
	}
	switch {
	case c.phase == falls || c.phase == over:
	case c.Loading():
		c.fall(out) // a copy that is on its way may have come from there
	case c.taking != Beginning && c.phase == runs:
		c.abandon("a host is lost that was to keep copies", out)
	case c.taking != Beginning:
		c.abandon("", out)
	default:
		c.mendAll(out)
	}
}

// mendAll is mend if each part has a copy left.
func (c *Coordinator) mendAll(out *[]Action) {
	if !slices.ContainsFunc(c.shares, func(s share) bool { return len(s.copies) == 0 }) {
		c.mend(out)
	}
}

// restart starts all processes again when none is left.
func (c *Coordinator) restart(out *[]Action) {
	if c.phase != falls || slices.ContainsFunc(c.members, func(m member) bool { return m.alive }) {
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
	for i := range c.members {
		c.members[i].sent = nil
	}
	*out = append(*out, Action{Kind: Restart, Epoch: c.epoch, Snapshot: c.committed})
}

// lost ends the job if a part of the committed snapshot has no copy left.
func (c *Coordinator) lost(out *[]Action) bool {
	for r := range c.shares {
		if c.committed != Beginning && len(c.shares[r].copies) == 0 {
			c.fail(fmt.Sprintf("all copies of the snapshot of %v are lost with their hosts", proto.Rank(r)), out)
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
