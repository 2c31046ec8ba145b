package broadcast

import "banyan/internal/proto"

// Delayed correction (section 3.3): without failures one correction per process.
// A process that the tree has reached, whether or not a correction reached it
// before, sends to its left neighbour and then waits: its right neighbour does the
// same, so something should come from there. If nothing has come within the delay,
// it sends farther and farther to the right, until something does. A process that hears from
// a sender on its left that its own first message didn't reach answers.
//
// Why every process is reached: a stops only when b, which takes part, has answered what a
// sent to it, or is its neighbour. Either way a has sent to all between them, and
// b takes care of what is beyond. A process that doesn't take part doesn't answer, so a goes on
// beyond it. If no other process takes part a goes round the ring.
//
// Only the nearest sender is answered: one farther away has sent to the nearer one
// before, which takes part as well and answers.
//
// The delay accuses no process: if it is too short, more messages are sent.

// waits says whether a process still expects its right neighbour's correction.
func (c *Config) waits(s *State) bool {
	return s.sentLeft > 0 && s.heardRight == 0 && int(s.sentRight) < c.Tree.Procs()-2
}

// delayed returns the process's next correction.
func (c *Config) delayed(s *State, now proto.Time) (to int, kind Kind, ok bool) {
	switch {
	case c.Tree.Procs() == 1:
		return 0, 0, false
	case s.sentLeft == 0:
		s.sentLeft, s.due = 1, now+c.Delay
		return c.at(int(s.self) - 1), KindLeft, true
	case s.heardLeft > 1 && s.heardLeft != s.count:
		s.count = s.heardLeft
		return c.at(int(s.self) - int(s.heardLeft)), KindLeft, true
	case c.waits(s) && now >= s.due:
		s.sentRight++
		return c.at(int(s.self) + int(s.sentRight)), KindRight, true
	}
	return 0, 0, false
}
