package logp

import "math/bits"

// Set is a set of processes, one bit each. The zero Set is empty and has room
// for none.
type Set []uint64

// NewSet returns an empty set with room for n processes.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Has says whether a process is in the set; one there is no room for isn't.
func (s Set) Has(process int) bool {
	i := process / 64
	return i < len(s) && s[i]>>(process%64)&1 != 0
}

// Add adds a process there is room for.
func (s Set) Add(process int) { s[process/64] |= 1 << (process % 64) }

// Len is the number of processes in the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// agenda is a set that is filled, then emptied in order. A bit of busy says that
// a word of members isn't 0, so that few members in a large set are found fast.
type agenda struct {
	members Set
	busy    Set
}

func newAgenda(n int) agenda {
	members := NewSet(n)
	return agenda{members, NewSet(len(members))}
}

func (a *agenda) add(process int32) {
	w := uint32(process) / 64
	a.members[w] |= 1 << (uint32(process) % 64)
	a.busy[w/64] |= 1 << (w % 64)
}

// drain takes out all members in ascending order. None may be added meanwhile.
func (a *agenda) drain(visit func(process int32)) {
	for i, busy := range a.busy {
		a.busy[i] = 0
		for ; busy != 0; busy &= busy - 1 {
			w := i*64 + bits.TrailingZeros64(busy)
			word := a.members[w]
			a.members[w] = 0
			for ; word != 0; word &= word - 1 {
				visit(int32(w*64 + bits.TrailingZeros64(word)))
			}
		}
	}
}
