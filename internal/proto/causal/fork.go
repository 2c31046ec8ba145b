package causal

// Operations that go on beside the program, as collectives do, have clocks of
// their own. When one begins, its clock is forked from the program's, which
// counts the beginning as one send; the operation's messages are stamped by the
// fork and not counted; what it receives is merged into the fork; and when the
// program learns of its end, the fork is joined. So the program's counts follow
// its own order alone, and mean the same at all replicas, however the operation's
// messages fall between its own.

// Fork sets a clock made by New for the same process to that of an operation which
// begins now.
func (c *Clock) Fork(fork *Clock) {
	copy(fork.past, c.past)
	fork.fork = true
	c.past[c.self]++
}

// Join merges the clock of an operation of whose end the program has learned.
func (c *Clock) Join(fork *Clock) {
	for i, n := range fork.past {
		c.past[i] = max(c.past[i], n)
	}
}
