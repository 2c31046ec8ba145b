package rollback

import "banyan/internal/proto"

// Store is what a host keeps of snapshots: of each process whose part is there the last one that
// was committed, and the one that is being taken.
type Store[T any] struct {
	parts     map[proto.Proc][]version[T] // in ascending order of snapshots
	discarded Snapshot                    // no number up to this one comes any more, unless it is the committed one
	committed Snapshot
}

type version[T any] struct {
	snapshot Snapshot
	data     T
}

// NewStore makes an empty store.
func NewStore[T any]() *Store[T] { return &Store[T]{parts: map[proto.Proc][]version[T]{}} }

// Put keeps a process's part of a snapshot. It returns false, and keeps nothing, if that snapshot
// was abandoned or is older than the committed one.
func (s *Store[T]) Put(p proto.Proc, n Snapshot, data T) bool {
	if n < s.committed || n != s.committed && n <= s.discarded {
		return false
	}
	parts := s.parts[p]
	for i := range parts {
		if parts[i].snapshot == n {
			parts[i].data = data
			return true
		}
	}
	s.parts[p] = append(parts[:len(parts):len(parts)], version[T]{n, data})
	return true
}

// Get gives a process's part of a snapshot.
func (s *Store[T]) Get(p proto.Proc, n Snapshot) (data T, ok bool) {
	for _, v := range s.parts[p] {
		if v.snapshot == n {
			return v.data, true
		}
	}
	return data, false
}

// Commit forgets all snapshots before n.
func (s *Store[T]) Commit(n Snapshot) {
	s.committed = max(s.committed, n)
	s.keep(func(v Snapshot) bool { return v >= s.committed })
}

// Discard forgets snapshot n, which isn't committed.
func (s *Store[T]) Discard(n Snapshot) {
	if n == s.committed {
		return
	}
	s.discarded = max(s.discarded, n)
	s.keep(func(v Snapshot) bool { return v != n })
}

func (s *Store[T]) keep(wanted func(n Snapshot) bool) {
	for p, parts := range s.parts {
		var left []version[T]
		for _, v := range parts {
			if wanted(v.snapshot) {
				left = append(left, v)
			}
		}
		if len(left) > 0 {
			s.parts[p] = left //banyan:maporder each process by itself
		} else {
			delete(s.parts, p)
		}
	}
}
