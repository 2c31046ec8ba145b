package logp

import "math/bits"

// Set is a set of processes, one bit each. The zero Set is empty and has room
// for none.
type Set []uint64

// NewSet returns an empty set with room for n processes.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Has says whether a process is in the set. A process beyond the set's room isn't.
func (s Set) Has(process int) bool {
	i := process / 64
	return i < len(s) && s[i]>>(process%64)&1 != 0
}

// Add adds a process within the set's room.
func (s Set) Add(process int) { s[process/64] |= 1 << (process % 64) }

// Len is the number of processes in the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each visits the members in ascending order.
func (s Set) each(visit func(process int)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			visit(i*64 + bits.TrailingZeros64(word))
		}
	}
}

// agenda is a set that is filled, then emptied in order. A bit of busy says that
// a word of members isn't 0, so that few members in a large set are found fast.
type agenda struct {
	members Set
	busy    Set
	some    bool // there are members
}

func newAgenda(n int) agenda {
	members := NewSet(n)
	return agenda{members: members, busy: NewSet(len(members))}
}

func (a *agenda) add(process int32) {
	w := uint32(process) / 64
	word := a.members[w]
	a.members[w] = word | 1<<(uint32(process)%64)
	if word == 0 { // else it is busy already: often, and so a write is saved
		a.busy[w/64] |= 1 << (w % 64)
		a.some = true
	}
}

// take takes out members in ascending order, until all of room's capacity is used
// but for less than 64. It starts at next, which is 0 first and then what was
// returned, until that is below 0: the agenda is empty then. None may be added
// meanwhile.
func (a *agenda) take(next int, room []int32) (members []int32, then int) {
	for i := next; i < len(a.busy); i++ {
		for a.busy[i] != 0 {
			if cap(room)-len(room) < 64 {
				return room, i
			}
			w := i*64 + bits.TrailingZeros64(a.busy[i])
			a.busy[i] &= a.busy[i] - 1
			first, word := int32(w*64), a.members[w]
			a.members[w] = 0
			for ; word != 0; word &= word - 1 {
				room = append(room, first+int32(bits.TrailingZeros64(word)))
			}
		}
	}
	a.some = false
	return room, -1
}
