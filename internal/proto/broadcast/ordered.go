package broadcast

// Ordered correction is the paper's optimised rule (optimised.go) made safe: a process leaves out
// what the sender of a correction reaches only if that sender comes before it in an order of all
// processes. It is a rule of ours. It costs a few percent more, and keeps non-faulty liveness.
//
// The order is by generation, then by position. A process is of generation 0 if it has heard of
// no correction when it sends its first one. Else it is of the generation after the last that
// it has heard of by then. So whatever it heard by then comes before it, and the order follows the
// broadcast's own course: it needs neither time nor a look at the tree. Every correction
// carries its sender's generation.
//
// Why every live process is reached: let T be live and within reach of a coloured process that
// corrects. Of all these processes let p be the first in the order. If p left T out it would rely
// on one that reaches T too (optimised.go says which are left out), and that comes before p. There
// is none, so p sends to T. A sender's place is fixed by its first correction, and p's own can
// only move back after p has heard of one: so "before" stays true. Hence the colour spreads over
// any gap of fewer than d dead, as with opportunistic correction. Whether those on whom p's
// neighbours rely have relied on others in turn doesn't matter: p has the last word for T.
//
// The argument needs no time and no order of arrivals. It needs the processes to be dead from the
// beginning or to live on: one that dies after its first correction takes with it what the
// processes that rely on it have left out. (Checked and skip-ahead correction have that limit too.)
//
// It is one order for both sides of all processes. Relying on those before in the order, and
// skipping ahead for the others as well (skipahead.go), would make circles again.
//
// The last generation has no next one: its processes are ordered by position alone. Where
// corrections go one way only, relations can't be circular (skipahead.go), and a process relies on
// every sender.

// lastGeneration is the last that a Kind has room for.
const lastGeneration = maxNumber

// relies says whether a process leaves out what the sender of a correction reaches. It takes
// note of the generation.
func (c *Config) relies(s *State, from int, kind Kind) bool {
	generation := uint8(kind.number())
	if s.sentLeft == 0 && s.sentRight == 0 {
		s.generation = max(s.generation, min(generation+1, lastGeneration))
	}
	left, right := c.reach()
	return generation < s.generation || generation == s.generation && from < int(s.self) || min(left, right) == 0
}
