package process

// payload is what a frame carries, on its way through the process, and says what owns the
// memory.
type payload struct {
	bytes []byte
	owner payloadOwner
}

type payloadOwner uint8

const (
	// ownedByTransport: the memory is good until the Sink's method returns.
	ownedByTransport payloadOwner = iota
	// ownedByFrame: it is a buffer of the pool. It goes back there with the frame, unless keep
	// takes it.
	ownedByFrame
	// ownedByCaller: the caller of keep owns the buffer, and puts it back to the pool.
	ownedByCaller
)

// keep gives the first n bytes for good: in the frame's own buffer, else in a copy. It may be
// called once.
func (f *payload) keep(pool *buffers, n int) []byte {
	switch {
	case f.owner == ownedByFrame:
		f.owner = ownedByCaller
		return f.bytes[:n]
	case n == 0:
		return nil // an empty part of f.bytes would bring the transport's memory into the pool
	}
	return pool.copyOf(f.bytes[:n])
}

// release ends the frame: nothing that wasn't kept is used any more.
func (f *payload) release(pool *buffers) {
	if f.owner == ownedByFrame {
		pool.put(f.bytes)
	}
}
