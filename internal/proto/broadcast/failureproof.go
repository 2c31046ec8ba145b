package broadcast

import "math/bits"

// Failure-proof correction reaches every process although processes die during the
// broadcast, at any point, in any number, the root included: either all
// live ones are coloured in the end, or none.
//
// Checked correction fails there, because a process that meets another relies on
// it to take care of what is beyond, and that other may die. Here no process relies on
// another's future. A process knows of a stretch of the ring around it, grown from
// itself, to all of which the message has been sent: by itself, or by a process that
// said so. It corrects, to its left and to its right in turn and always just
// outside that stretch, until this is the whole ring. Every coloured process does
// so, whatever coloured it.
//
// What a correction says: its sender, δ away, knows of the δ positions up to the
// receiver, and of c beyond itself. So the receiver's stretch grows to at least δ + c
// on that side. c is rounded down to 2^n - 1, of which n fits into the kind.
//
// A process that has finished answers a correction: "everything". So a process that comes late
// needn't go round the ring alone. An answer isn't answered, and one of several that are
// owed to one side may be left out: a process that doesn't get it goes on.
//
// Why it holds. (1) "A process has sent to x" is true for ever: what was sent arrives, though its
// sender dies thereafter. A process says it only when it is true, because each adds a position to
// its stretch in the step that sends there, and the rest comes from others; by induction over the
// messages every stretch is true, in any order of arrivals. (2) A coloured live process sends until
// its stretch is the ring, at most P-1 times and the answers, whatever other processes are silent.
// So if a live process is coloured, all have been sent to, and every live process is coloured. (3)
// A live root is coloured. The argument needs no time, and no process to stay alive.
//
// What it costs: both neighbouring stretches are added to a process's own, so a stretch
// that is answered from both sides grows exponentially: without failures each process
// sends a multiple of log P corrections. After a gap of g it is up to g more.
// What it needs: a network that delivers what a process sent before it died.

// everything is the number of an answer: its sender knows of the whole ring.
const everything = maxNumber

// finished says whether a process knows of the whole ring.
func (c *Config) finished(s *State) bool { return int(s.sentLeft)+int(s.sentRight) >= c.Tree.Procs()-1 }

// learn notes a correction from one side, or that it is to be answered.
func (c *Config) learn(s *State, sent, heard *int32, distance int32, kind Kind) {
	switch {
	case kind.number() == everything:
		*sent = int32(c.Tree.Procs())
	case s.is(flagColoured) && c.finished(s):
		*heard = distance
	default:
		*sent = max(*sent, distance+(1<<kind.number()-1))
	}
}

// failureProof returns the process's next correction.
func (c *Config) failureProof(s *State) (to int, kind Kind, ok bool) {
	right := s.is(flagRight)
	switch {
	case !c.finished(s):
		s.flags ^= flagRight
	case s.heardLeft > 0:
		to = c.at(int(s.self) - int(s.heardLeft))
		s.heardLeft = 0
		return to, KindLeft.withNumber(everything), true
	case s.heardRight > 0:
		to = c.at(int(s.self) + int(s.heardRight))
		s.heardRight = 0
		return to, KindRight.withNumber(everything), true
	default:
		return 0, 0, false
	}
	if !right {
		s.sentLeft++
		return c.at(int(s.self) - int(s.sentLeft)), KindLeft.withNumber(rounded(s.sentRight)), true
	}
	s.sentRight++
	return c.at(int(s.self) + int(s.sentRight)), KindRight.withNumber(rounded(s.sentLeft)), true
}

// rounded is the largest number that says no more than that n positions are known.
func rounded(n int32) int { return bits.Len32(uint32(n)+1) - 1 }
