package broadcast

// Checked correction: a process that the tree has reached sends farther and
// farther to both sides of the ring. It stops to one side when it has heard
// from that side, and has sent to the nearest it has heard from: between the
// two everyone has been sent to. Who is coloured by a correction sends none.
//
// Why everyone is reached: take two neighbours a, b among those who correct, with
// only others between them. Whoever a hears from on b's side is b or beyond, so a
// stops only after it has sent to all between them. Nobody needs more than P
// corrections in all: those have gone round the whole ring.

// checked returns how far the next correction would go on each side, 0 for a
// side that is finished.
func (c *Config) checked(s *State) (left, right int32) {
	procs := int32(c.Tree.Procs())
	if procs == 1 || s.sentLeft+s.sentRight >= procs {
		return 0, 0
	}
	if s.heardLeft == 0 || s.sentLeft < s.heardLeft {
		left = s.sentLeft + 1
	}
	if s.heardRight == 0 || s.sentRight < s.heardRight {
		right = s.sentRight + 1
	}
	return left, right
}
