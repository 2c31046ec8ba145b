package window

import (
	"sync/atomic"
	"unsafe"
)

// An accumulate is at its part either among others or alone. Among others it changes each element
// by one instruction of the processor; alone it may do as it likes, in vectors of elements, or
// where there is no such instruction. Those that are among others are counted meanwhile: each
// member has a word for it at each part. A member that is alone has the part's turn: its number is
// in a word, and all counts of the part are zero. C has the same steps (capi/lane_turn.h).
//
// A member that dies in the midst leaves its number or its count. Who finds it, and knows of the
// death, clears it: so what the dead one has begun remains half done, as a put would, and nobody
// waits for it.

// turnLooks is how often a member looks before Begin gives up. Others have a turn for microseconds.
const turnLooks = 1000

// turn is the number of the member that is alone at a part, from 1 on; 0 if none is.
func (m *Memory) turn(part int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(m.memory.Base(), turnsAt+CacheLine*part))
}

// count is how many accumulates a member has among others at a part.
func (m *Memory) count(member, part int) *atomic.Uint32 { return m.in(member, countsRow, part) }

// Begin tries to begin an accumulate at a part, and returns false if others are in its way for
// longer than usual. dead says which members are known to be dead.
func (m *Memory) Begin(part int, alone bool, dead func(member int) bool) bool {
	turn := m.turn(part)
	for range turnLooks {
		switch holder := turn.Load(); {
		case holder != 0:
			if dead(int(holder) - 1) {
				turn.CompareAndSwap(holder, 0) // unless another one has done so, and has begun
			}
		case !alone:
			own := m.count(m.self, part)
			own.Add(1)
			if turn.Load() == 0 {
				return true
			}
			own.Add(^uint32(0))
		case turn.CompareAndSwap(0, uint32(m.self)+1):
			if m.othersEnd(part, dead) {
				return true
			}
			turn.Store(0)
			return false
		}
	}
	return false
}

// othersEnd waits until no member is among others at a part. Since the turn is taken none begins.
func (m *Memory) othersEnd(part int, dead func(member int) bool) bool {
	for member := range m.size {
		count := m.count(member, part)
		for looks := 0; count.Load() != 0; looks++ {
			if dead(member) {
				count.Store(0)
			} else if looks == turnLooks {
				return false
			}
		}
	}
	return true
}

// End is the end of Begin.
func (m *Memory) End(part int, alone bool) {
	if alone {
		m.turn(part).Store(0)
	} else {
		m.count(m.self, part).Add(^uint32(0))
	}
}
