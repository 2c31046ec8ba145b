package rma

import (
	"bytes"
	"math/bits"
	"unsafe"
)

// public is the public copy of this rank's part, in leader order (led.go): what other ranks access,
// while the program has its own. It knows which bytes they have changed since the two were brought
// together last.
type public struct {
	data    []byte
	changed []uint64 // a bit for each byte; nil: none has changed
}

// word is how many bytes have their bits in one word.
const word = 64

// newPublic copies a part. Elements are changed by instructions for the whole words of eight bytes
// that they are in, so these are the copy's own.
func newPublic(private []byte) *public {
	words := make([]uint64, (len(private)+7)/8)
	c := &public{data: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(private))}
	copy(c.data, private)
	return c
}

// base is where displacements count from.
func (c *public) base() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(c.data)) }

// note notes that some bytes have changed.
func (c *public) note(first, n int64) {
	if c.changed == nil {
		c.changed = make([]uint64, (len(c.data)+word-1)/word)
	}
	for end := first + n; first < end; {
		bit := first % word
		some := min(end-first, word-bit)
		c.changed[first/word] |= (^uint64(0) >> (word - some)) << bit
		first += some
	}
}

// merge brings the copies together: what others have changed goes to the program's copy, and all
// else to the public one.
func (c *public) merge(private []byte) {
	const stride = 4096 // bytes that are compared at once
	for from := 0; from < len(c.data); from += stride {
		upto := min(from+stride, len(c.data))
		if c.changed == nil || !c.any(from, upto) {
			if !bytes.Equal(c.data[from:upto], private[from:upto]) {
				copy(c.data[from:upto], private[from:upto])
			}
			continue
		}
		for w := from; w < upto; w += word {
			c.mergeWord(private, w, min(w+word, upto))
		}
	}
}

// any tells whether some bytes of a stride have changed.
func (c *public) any(from, upto int) bool {
	for _, w := range c.changed[from/word : (upto+word-1)/word] {
		if w != 0 {
			return true
		}
	}
	return false
}

// mergeWord merges the bytes of a word of bits, run by run.
func (c *public) mergeWord(private []byte, from, upto int) {
	w := c.changed[from/word]
	c.changed[from/word] = 0
	for at := from; at < upto; {
		if n := min(bits.TrailingZeros64(w), upto-at); n > 0 {
			copy(c.data[at:at+n], private[at:at+n])
			at, w = at+n, w>>n
			continue
		}
		n := min(bits.TrailingZeros64(^w), upto-at)
		copy(private[at:at+n], c.data[at:at+n])
		at, w = at+n, w>>n
	}
}
