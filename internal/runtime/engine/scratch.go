package engine

import (
	"math/bits"
	"sync"
)

// scratch are the buffers of a schedule's program. Small ones stay with the schedule for its next
// program. Large ones would add up over many communicators, so they come from a pool that all
// share and that the garbage collector empties.
type scratch struct {
	small [][]byte
	used  int       // of small
	large []*[]byte // all in use
}

// keepScratch is the largest buffer that stays with a schedule.
const keepScratch = 64 << 10

// pooled are the unused large buffers, by size: powers of two.
var pooled [bits.UintSize]sync.Pool

// take gives n bytes, with any content and aligned for every element type.
func (s *scratch) take(n int) []byte {
	if n > keepScratch {
		class := bits.Len(uint(n - 1))
		b, ok := pooled[class].Get().(*[]byte)
		if !ok {
			fresh := make([]byte, 1<<class)
			b = &fresh
		}
		s.large = append(s.large, b)
		return (*b)[:n]
	}
	if s.used == len(s.small) {
		s.small = append(s.small, nil)
	}
	b := s.small[s.used]
	if cap(b) < n {
		// The allocator aligns blocks of 16 bytes and more to 16 (to 8 at least).
		b = make([]byte, n, max(n, 64))
		s.small[s.used] = b
	}
	s.used++
	return b[:n]
}

// giveBack ends the use of all buffers.
func (s *scratch) giveBack() {
	s.used = 0
	if len(s.large) == 0 {
		return
	}
	for i, b := range s.large {
		pooled[bits.Len(uint(len(*b)-1))].Put(b)
		s.large[i] = nil
	}
	s.large = s.large[:0]
}
