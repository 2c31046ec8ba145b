package process

import "math/bits"

// buffers recycles byte slices of sizes from 64 bytes to 1 MiB: bodies
// of unexpected, retained and broadcast messages.
type buffers struct {
	memory []byte // Config.Memory, as far as nothing was made of it yet
	free   [classes][][]byte
}

const (
	smallestClass = 6  // 64 bytes
	largestClass  = 20 // wire.MaxPayload
	classes       = largestClass - smallestClass + 1
	// keepPerClass bounds what is kept of one class, in bytes.
	keepPerClass = MemorySize
)

// MemorySize is how many bytes of Config.Memory are of use.
const MemorySize = 32 << 20

// capacity is the size of the slices of a class: a power of two, and a bit for the stamp of a
// message, whose size is so often a power of two.
func capacity(class int) int {
	n := 1 << (class + smallestClass)
	return n + max(64, n/16)
}

// class is the lowest whose slices have room for so many bytes.
func class(size int) int {
	c := max(0, bits.Len(uint(max(size, 1)-1))-smallestClass)
	if c > 0 && size <= capacity(c-1) {
		c--
	}
	return c
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
	n := capacity(c)
	if len(b.memory) < n {
		return make([]byte, size, n)
	}
	s := b.memory[:size:n]
	b.memory = b.memory[n:]
	return s
}

// copyOf gives a copy of data.
func (b *buffers) copyOf(data []byte) []byte {
	s := b.get(len(data))
	copy(s, data)
	return s
}

// put takes back what get gave.
func (b *buffers) put(s []byte) {
	if cap(s) < capacity(0) {
		return
	}
	c := class(cap(s))
	if c >= classes || cap(s) != capacity(c) {
		return
	}
	if (len(b.free[c])+1)*cap(s) <= keepPerClass {
		b.free[c] = append(b.free[c], s)
	}
}
