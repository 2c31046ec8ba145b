package broadcast

// The acknowledged tree: a process that has sent to its children, and had an
// acknowledgement from each, acknowledges to its parent; the root is done then.
// A child that is dead never answers, so no process above it is ever done.

// acknowledge returns the acknowledgement, once.
func (c *Config) acknowledge(s *State) (to int, kind Kind, ok bool) {
	if !s.is(flagSpread) || s.is(flagAnswered) || s.count > 0 {
		return 0, 0, false
	}
	s.flags |= flagAnswered
	if s.self == 0 {
		return 0, 0, false
	}
	return c.Tree.Parent(int(s.self)), KindAck, true
}
