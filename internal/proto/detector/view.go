package detector

import (
	"sort"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
	"banyan/internal/topology"
)

// View is the list of processes that take part: the base list that labels of broadcasts and
// positions on the ring come from. It never changes and is shared by all machines that have it.
type View struct {
	Number uint32
	Ring   *topology.Ring
	// Incarnations are the members', by position on the ring; nil: all are 0.
	Incarnations []proto.Incarnation
}

// of is the incarnation of a member.
func (v *View) of(p proto.Proc) proto.Incarnation { return v.incarnation(v.Ring.Position(p)) }

// incarnation is that of the member at a position on the ring.
func (v *View) incarnation(position int) proto.Incarnation {
	if v.Incarnations == nil {
		return 0
	}
	return v.Incarnations[position]
}

// Entry says that a process is gone, in all its incarnations up to this one.
type Entry struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
	Left        bool // it left in order; else it died
}

// Digest sums up a set of entries. Equal sets have equal digests, others different ones but
// for a chance of 2^-64.
type Digest struct {
	Count uint32
	Hash  uint64
}

// hash is the share of an entry in the digest. Whether a process left or died doesn't
// count: processes that heard the one and processes that heard the other agree that it is gone.
func (e Entry) hash() uint64 {
	return splitmix.Mix(uint64(uint32(e.Proc))<<32 | uint64(e.Incarnation))
}

// roll is the list of those gone: sorted by their position on the ring, which is what both
// labels and lookups need.
type roll []Entry

// search is the number of entries before a position.
func (l roll) search(ring *topology.Ring, position int) int {
	if len(l) == 0 {
		return 0
	}
	return sort.Search(len(l), func(i int) bool { return ring.Position(l[i].Proc) >= position })
}

// find is where a process is or would be in the list.
func (l roll) find(ring *topology.Ring, p proto.Proc) (i int, ok bool) {
	if len(l) == 0 {
		return 0, false
	}
	i = l.search(ring, ring.Position(p))
	return i, i < len(l) && l[i].Proc == p
}

// label is the number of a live process counted clockwise from the source, among the
// members that aren't in the list. Both must be live by the list.
func (l roll) label(ring *topology.Ring, source, p proto.Proc) int32 {
	from, to := ring.Position(source), ring.Position(p)
	d := (to - l.search(ring, to)) - (from - l.search(ring, from))
	if d < 0 {
		d += ring.Len() - len(l)
	}
	return int32(d)
}

// proc is the inverse of label.
func (l roll) proc(ring *topology.Ring, source proto.Proc, label int32) proto.Proc {
	from := ring.Position(source)
	index := from - l.search(ring, from) + int(label)
	if n := ring.Len() - len(l); index >= n {
		index -= n
	}
	// Of those listed, i are before the index-th that isn't: the first i with
	// more than index unlisted ones before the i-th listed.
	i := sort.Search(len(l), func(i int) bool { return ring.Position(l[i].Proc)-i > index })
	return ring.At(index + i)
}

// valid tells whether a list from outside is sorted and of members only.
func (l roll) valid(ring *topology.Ring) bool {
	last := -1
	for i := range l {
		at := ring.Position(l[i].Proc)
		if at <= last {
			return false
		}
		last = at
	}
	return true
}

// same tells whether two lists are one and the same in memory.
func (l roll) same(k roll) bool {
	return len(l) == len(k) && (len(l) == 0 || &l[0] == &k[0])
}
