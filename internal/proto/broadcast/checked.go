package broadcast

// Checked correction: a process that the tree has reached sends farther and
// farther to both sides of the ring. It stops to one side when it has heard
// from that side, and has sent to the nearest process that it has heard from: then all
// between the two have been sent to. A process that a correction colours sends none.
//
// Why every process is reached: let a and b correct, with no correcting process between them.
// What a hears from b's side comes from b or beyond, so a
// stops only after it has sent to all between them. No process needs more than P
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
