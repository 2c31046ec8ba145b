package process

import "math/bits"

// buffers recycles byte slices in powers of two from 64 bytes to 1 MiB: bodies
// of unexpected, retained and broadcast messages.
type buffers struct {
	free [classes][][]byte
}

const (
	smallestClass = 6  // 64 bytes
	largestClass  = 20 // wire.MaxPayload
	classes       = largestClass - smallestClass + 1
	// keepPerClass bounds what is kept of one class, in bytes.
	keepPerClass = 16 << 20
)

func class(size int) int {
	if size <= 1<<smallestClass {
		return 0
	}
	return bits.Len(uint(size-1)) - smallestClass
}

// get gives a slice of size bytes with any content.
func (b *buffers) get(size int) []byte {
	c := class(size)
	if c >= classes {
		return make([]byte, size)
	}
	if n := len(b.free[c]); n > 0 {
		s := b.free[c][n-1]
		b.free[c] = b.free[c][:n-1]
		return s[:size]
	}
	return make([]byte, size, 1<<(c+smallestClass))
}

// copyOf gives a copy of data.
func (b *buffers) copyOf(data []byte) []byte {
	s := b.get(len(data))
	copy(s, data)
	return s
}

// put takes back what get gave.
func (b *buffers) put(s []byte) {
	c := class(cap(s))
	if cap(s) < 1<<smallestClass || c >= classes || cap(s) != 1<<(c+smallestClass) {
		return
	}
	if len(b.free[c])<<(c+smallestClass) < keepPerClass {
		b.free[c] = append(b.free[c], s)
	}
}
