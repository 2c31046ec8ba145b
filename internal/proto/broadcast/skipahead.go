package broadcast

// Skip-ahead correction: a process sends to d neighbours on each side of the ring, nearest
// first, and skips those on one side that a process on its other side is known to reach. The
// sender of a correction that came from the right, from δ away, reaches d-δ positions to the
// left of here, itself or through others. So only the farthest δ are left.
//
// This is half of what the paper leaves out (optimised.go): the side from which the correction
// came stays open. That half is safe. Let T be a live position. The processes that can reach T
// with corrections to the left are T+1 … T+d. Any of them leaves T out only if it has heard such
// a correction from another, which is farther to the right and reaches T as well. So the
// coloured one that is farthest to the right sends to T. The same holds for the other side.
// So the colour spreads along the ring over any gap of fewer than d dead.
//
// Every coloured process corrects, whatever coloured it. (Where correction is overlapped no
// process can tell an early correction from one that mends a broken tree; and only so do the
// paper's results come out: docs/design/papers.md.)

// skipAhead returns how far the next correction would go on each side, 0 for a
// side that is finished.
func (c *Config) skipAhead(s *State) (left, right int32) {
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
