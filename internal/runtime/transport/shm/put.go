package shm

// putMin is the least data, in bytes, that put treats specially.
const putMin = 2 << 10

// put copies data into memory that another core has in its cache, as the other end of a ring has.
// It returns how many bytes it has copied, as copy does.
//
// A store brings a line here first, from that other core, only to overwrite all of it. The
// processor's own instruction for copies knows that it writes whole lines, and does without: so
// where lines take long from core to core it takes a third of the time (decision 94).
func put(to, from []byte) int {
	n := min(len(to), len(from))
	if n < putMin || !wholeLines {
		return copy(to, from)
	}
	putLines(&to[0], &from[0], uintptr(n))
	return n
}
