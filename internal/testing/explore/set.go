package explore

import (
	"encoding/binary"
	"hash/maphash"
)

// set is a set of states, by 96 bits of the hash of their keys: 12 bytes each in tables
// that are half full or more. A table is one of many, so that growing takes little
// memory besides.
type set struct {
	seeds  [2]maphash.Seed
	tables [1 << 8]table
	size   int
}

type table struct {
	slots []slot // a power of two of them; all 0: free
	used  int
}

type slot [12]byte

func newSet() *set {
	return &set{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// add says whether a key is new.
func (s *set) add(key []byte) bool {
	h := maphash.Bytes(s.seeds[0], key)
	var k slot
	binary.LittleEndian.PutUint64(k[:], h)
	binary.LittleEndian.PutUint32(k[8:], uint32(maphash.Bytes(s.seeds[1], key))|1)
	t := &s.tables[h>>56]
	if t.used >= len(t.slots)-len(t.slots)/8 {
		t.grow()
	}
	if !t.insert(k) {
		return false
	}
	s.size++
	return true
}

func (t *table) insert(k slot) bool {
	for i := t.home(k); ; i = (i + 1) & (len(t.slots) - 1) {
		switch t.slots[i] {
		case slot{}:
			t.slots[i] = k
			t.used++
			return true
		case k:
			return false
		}
	}
}

// home is where a key's search begins. Its highest bits choose the table.
func (t *table) home(k slot) int {
	return int(binary.LittleEndian.Uint64(k[:])) & (len(t.slots) - 1)
}

func (t *table) grow() {
	old := t.slots
	t.slots, t.used = make([]slot, max(16, 2*len(old))), 0
	for _, k := range old {
		if k != (slot{}) {
			t.insert(k)
		}
	}
}
