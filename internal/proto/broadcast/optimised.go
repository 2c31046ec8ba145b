package broadcast

// Optimised opportunistic correction: a process sends to d neighbours on each
// side of the ring, nearest first, except to those that another process is known
// to reach: the sender of a correction that came from the right, from δ away, reaches
// d-δ positions to the left of here, itself or through others. So
// only the farthest δ are left.
//
// Every coloured process corrects, whatever coloured it. (Where
// correction is overlapped no process can tell an early correction from one that
// mends a broken tree; and only so do the paper's results come out:
// docs/design/papers.md.) So the colour spreads along the ring over any gap of fewer than
// d dead.

// optimised returns how far the next correction would go on each side, 0 for a
// side that is finished.
func (c *Config) optimised(s *State) (left, right int32) {
	reachLeft, reachRight := c.reach()
	return beyond(s.sentLeft, s.heardRight, reachLeft), beyond(s.sentRight, s.heardLeft, reachRight)
}

// beyond returns the next distance to send to on one side after `sent`, when the
// nearest correction that passes this way came from `heard` behind (0: none).
func beyond(sent, heard, reach int32) int32 {
	next := sent + 1
	if heard > 0 {
		next = max(next, reach-heard+1)
	}
	if next > reach {
		return 0
	}
	return next
}
