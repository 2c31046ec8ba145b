package process

// Handle names an entry of a slab: its index, and a generation that tells it from earlier users
// of the same entry. The zero Handle names nothing.
type Handle struct {
	index, generation uint32
}

// bits packs a Handle to travel in a frame or a token.
func (h Handle) bits() uint64 { return uint64(h.generation)<<32 | uint64(h.index) }

func handleOf(bits uint64) Handle {
	return Handle{index: uint32(bits), generation: uint32(bits >> 32)}
}

// slab keeps entries at stable addresses and reuses those that were freed.
type slab[T any] struct {
	entries []*entry[T]
	free    []uint32
}

type entry[T any] struct {
	value      T
	generation uint32 // odd while in use
}

// take gives an entry. Its value is what its last user left.
func (s *slab[T]) take() (Handle, *T) {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		e := s.entries[i]
		e.generation++
		return Handle{i, e.generation}, &e.value
	}
	// Entries are made in blocks: neighbours in time are neighbours in memory.
	block := make([]entry[T], 64)
	for i := range block {
		s.entries = append(s.entries, &block[i])
		if i > 0 {
			s.free = append(s.free, uint32(len(s.entries)-1))
		}
	}
	i := uint32(len(s.entries) - len(block))
	s.entries[i].generation = 1
	return Handle{i, 1}, &s.entries[i].value
}

// get returns the entry of a Handle, or nil if it is no longer the Handle's.
func (s *slab[T]) get(h Handle) *T {
	if int(h.index) >= len(s.entries) {
		return nil
	}
	e := s.entries[h.index]
	if e.generation != h.generation || h.generation&1 == 0 {
		return nil
	}
	return &e.value
}

// at returns the entry in use at an index, with its Handle.
func (s *slab[T]) at(index uint32) (Handle, *T) {
	e := s.entries[index]
	return Handle{index, e.generation}, &e.value
}

// put frees an entry.
func (s *slab[T]) put(h Handle) {
	e := s.entries[h.index]
	e.generation++
	s.free = append(s.free, h.index)
}

// each visits the entries in use, in the order of their indices.
func (s *slab[T]) each(visit func(Handle, *T)) {
	for i, e := range s.entries {
		if e.generation&1 == 1 {
			visit(Handle{uint32(i), e.generation}, &e.value)
		}
	}
}
