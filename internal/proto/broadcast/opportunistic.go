package broadcast

// Opportunistic correction: a process sends to its neighbours on the ring, as
// far as a distance for each side, whatever it hears (section 3.1). Skip-ahead (skipahead.go),
// optimised (optimised.go) and ordered correction (ordered.go) leave some messages out.
//
// Where it is synchronised, the processes that dissemination has reached correct.
// Where it is overlapped, all coloured processes do, as with the others.
//
// The two sides never overlap: in a small ring a process within the distance of both sides
// is reached from one. If both could reach half of the ring or more, the opposite
// position of a ring of even size counts as left.

// reach is the number of positions to which corrections go on each side.
func (c *Config) reach() (left, right int32) {
	others := int32(c.Tree.Procs() - 1)
	left, right = int32(c.Distance), int32(c.Distance)
	if c.Unequal {
		left = int32(c.LeftDistance)
	}
	if left+right <= others {
		return left, right
	}
	return min(left, max(others-right, (others+1)/2)), min(right, max(others-left, others/2))
}

// opportunistic returns how far the next correction would go on each side, 0 for
// a side that is finished.
func (c *Config) opportunistic(s *State) (left, right int32) {
	reachLeft, reachRight := c.reach()
	return beyond(s.sentLeft, 0, reachLeft), beyond(s.sentRight, 0, reachRight)
}
