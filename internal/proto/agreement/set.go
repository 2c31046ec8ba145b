package agreement

import (
	"math/bits"
	"slices"
)

// Set is a set of members: bit m%64 of word m/64 is member m. A Set is never changed, so several
// may share memory. Its last word isn't 0: equal sets have equal words, and the empty one is nil.
type Set []uint64

// Has tells whether a member is in the set.
func (s Set) Has(member int) bool {
	return member>>6 < len(s) && s[member>>6]>>(member&63)&1 != 0
}

// With is the set with one more member.
func (s Set) With(member int) Set {
	if s.Has(member) {
		return s
	}
	t := make(Set, max(len(s), member>>6+1))
	copy(t, s)
	t[member>>6] |= 1 << (member & 63)
	return t
}

// Without is the set without a member.
func (s Set) Without(member int) Set {
	if !s.Has(member) {
		return s
	}
	t := slices.Clone(s)
	t[member>>6] &^= 1 << (member & 63)
	return t.trim()
}

// Union is the set of those that are in either.
func (s Set) Union(t Set) Set {
	if len(s) < len(t) {
		s, t = t, s
	}
	if t.within(s) {
		return s
	}
	u := slices.Clone(s)
	for i, w := range t {
		u[i] |= w
	}
	return u
}

// within tells whether all of s is in t, which is no shorter.
func (s Set) within(t Set) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// Intersection is the set of those that are in both.
func (s Set) Intersection(t Set) Set {
	if len(s) > len(t) {
		s, t = t, s
	}
	if s.within(t) {
		return s
	}
	u := slices.Clone(s)
	for i := range u {
		u[i] &= t[i]
	}
	return u.trim()
}

// Minus is the set of those that are in s and not in t.
func (s Set) Minus(t Set) Set {
	if len(s) == 0 {
		return nil
	}
	u := slices.Clone(s)
	for i := range min(len(u), len(t)) {
		u[i] &^= t[i]
	}
	return u.trim()
}

func (s Set) trim() Set {
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	if len(s) == 0 {
		return nil
	}
	return s
}

// Empty tells whether nobody is in the set.
func (s Set) Empty() bool { return len(s) == 0 }

// Equal tells whether two sets have the same members.
func (s Set) Equal(t Set) bool { return slices.Equal(s, t) }

// Len is the number of members.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// AppendMembers appends the members in ascending order.
func (s Set) AppendMembers(dst []int) []int {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, i<<6+bits.TrailingZeros64(w))
		}
	}
	return dst
}

// limit is one more than the highest member.
func (s Set) limit() int {
	if len(s) == 0 {
		return 0
	}
	return (len(s)-1)<<6 + bits.Len64(s[len(s)-1])
}
