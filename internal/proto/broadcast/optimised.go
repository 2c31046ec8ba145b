package broadcast

// Optimised opportunistic correction, as the paper prints it (section 3.3): a process sends to d
// neighbours on each side of the ring, nearest first, and leaves out all that the sender of a
// correction reaches. If that came from the right, from δ away, its sender reaches
// everything here but the farthest δ on the left. So a process that has heard from the right
// sends only to these, one that has heard from both sides sends nothing more.
//
// The paper says that a process can be sure that the sender covers the others, and that the rule
// keeps non-faulty liveness. It doesn't, because the sender may leave them out in its turn:
// two neighbours that hear of each other both rely on the other
// (optimised_test.go has the smallest broadcasts in which a live process stays uncoloured).
// It keeps it where corrections go one way only, since there the rule is skip-ahead
// correction (skipahead.go), and where d = 1, since there nothing is left out but the sender.
//
// Of the two nearest processes the right one comes first, as section 3.1 lists
// them. With that order the numbers of messages come out that an independent model of the printed
// rule has; with the other it sends some percent more.

// optimised returns how far the next correction would go on each side, 0 for a side that is
// finished.
func (c *Config) optimised(s *State) (left, right int32) {
	left, right = c.skipAhead(s)
	if s.heardLeft > 0 {
		left = 0
	}
	if s.heardRight > 0 {
		right = 0
	}
	return left, right
}
