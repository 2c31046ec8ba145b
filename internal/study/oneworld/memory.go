package oneworld

import "math/bits"

// memory is where messages are kept while they are under way: runs are short, and most of what they
// would allocate is messages.
type memory struct {
	free [24][][]byte // by the logarithm of the capacity
}

// get gives a slice of some bytes with any content.
func (m *memory) get(size int) []byte {
	class := bits.Len(uint(max(size, 64) - 1))
	free := m.free[class]
	if len(free) == 0 {
		return make([]byte, size, 1<<class)
	}
	b := free[len(free)-1]
	m.free[class] = free[:len(free)-1]
	return b[:size]
}

// put takes back a slice of get's that nobody has any more.
func (m *memory) put(b []byte) {
	if cap(b) > 0 {
		class := bits.Len(uint(cap(b) - 1))
		m.free[class] = append(m.free[class], b)
	}
}
