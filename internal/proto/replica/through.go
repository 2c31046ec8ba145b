package replica

import "banyan/internal/proto"

// Through: a process whose program is through may tell another one so, when it Keeps nothing for
// that one. By the order of their channel the other then has all that this rank ever sends to it:
// by invariant 3 of the package each message was there before, or was on its way from this very
// process.

// Keeps says whether this process retains a message that q may need.
func (m *Machine) Keeps(q proto.Proc) bool {
	dst, bit := m.layout.Rank(q), m.bit(q)
	for _, c := range m.sending.channels.All() {
		if c.dst != dst {
			continue
		}
		for i := range c.retained.size {
			if e := c.retained.at(i); e.open && e.value.pending&bit != 0 {
				return true
			}
		}
	}
	return false
}
