package process

import "math/bits"

// buffers recycles byte slices of sizes from 64 bytes to 1 MiB: bodies of unexpected, retained
// and broadcast messages.
type buffers struct {
	memory []byte // what is left of Config.Memory
	free   [classes][][]byte
}

const (
	smallestClass = 6  // 64 bytes
	largestClass  = 20 // wire.MaxPayload
	classes       = largestClass - smallestClass + 1
	// keepPerClass bounds what is kept of one class, in bytes.
	keepPerClass = MemorySize
)

// MemorySize is how many bytes of Config.Memory are used at most.
const MemorySize = 32 << 20

// capacity is the size of the slices of a class: a power of two, and some more for the stamp of
// a message, since sizes of messages are often powers of two.
func capacity(class int) int {
	n := 1 << (class + smallestClass)
	return n + max(stampRoom, n>>4)
}

// smallest is capacity(0).
const (
	stampRoom = 64
	smallest  = 1<<smallestClass + stampRoom
)

// class is the lowest whose slices have room for so many bytes.
func class(size int) int {
	if size <= smallest {
		return 0 // most messages
	}
	c := bits.Len(uint(size-1)) - smallestClass
	if size <= capacity(c-1) {
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
	free := b.free[c]
	if len(free) == 0 {
		return b.fresh(size, c)
	}
	s := free[len(free)-1]
	b.free[c] = free[:len(free)-1]
	return s[:size]
}

// fresh makes a slice of a class.
func (b *buffers) fresh(size, class int) []byte {
	n := capacity(class)
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
	c := class(cap(s))
	if c >= classes || cap(s) != capacity(c) {
		return
	}
	if free := b.free[c]; (len(free)+1)*cap(s) <= keepPerClass {
		b.free[c] = append(free, s)
	}
}
