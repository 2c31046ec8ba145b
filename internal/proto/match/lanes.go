package match

import "banyan/internal/proto"

// lane holds what concerns one source in one context. The lane of AnyRank is
// its context's: it is made with the first lane of the context, and freed with
// all of them.
type lane struct {
	key        key
	posted     list  // receives that name this source (or AnyRank)
	unexpected list  // messages of this source (or of all)
	whole      int32 // the context's lane, this one itself for AnyRank
	sibling    int32 // next lane of the context, which heads that list
	load       int   // of a context's lane: entries in the whole context
	used       bool
	indexed    which // which of the lists the tagIndex has
}

type key struct {
	context uint64
	src     proto.Rank
}

// lanes is a slab of lanes and the way to find them. Slot 0 stays unused; free
// slots are linked by sibling.
type lanes struct {
	slab     []lane
	byKey    map[key]int32
	recent   [recentLanes]int32 // lanes found last, by slot
	freeHead int32
	freeLen  int
}

// recentLanes is how many lanes are found without a look into the map: a power
// of two.
const recentLanes = 64

// slot is where recent may have a lane: neighbours of one context don't meet.
func (k key) slot() uint64 { return (k.context*0x9e3779b97f4a7c15>>58 + uint64(k.src)) % recentLanes }

func newLanes() lanes {
	return lanes{slab: make([]lane, 1), byKey: make(map[key]int32)}
}

func (s *lanes) at(i int32) *lane { return &s.slab[i] }

func (s *lanes) find(context uint64, src proto.Rank) (int32, bool) {
	k := key{context, src}
	slot := &s.recent[k.slot()]
	if l := &s.slab[*slot]; l.key == k && l.used {
		return *slot, true
	}
	i, ok := s.byKey[k]
	*slot = i
	return i, ok
}

// get finds or makes a lane, and its context's before it.
func (s *lanes) get(context uint64, src proto.Rank) int32 {
	if i, ok := s.find(context, src); ok {
		return i
	}
	s.reserve(2)
	whole, ok := s.find(context, proto.AnyRank)
	if !ok {
		whole = s.add(key{context, proto.AnyRank})
		s.slab[whole].whole = whole
	}
	if src == proto.AnyRank {
		return whole
	}
	i := s.add(key{context, src})
	first := &s.slab[whole].sibling
	s.slab[i].whole, s.slab[i].sibling, *first = whole, *first, i
	return i
}

// reserve sees to n free slots. When they run out it takes back the lanes of
// contexts in which nothing waits, and grows only if half of the slab stays in
// use, so that the walk is paid for by the slots it finds or adds.
func (s *lanes) reserve(n int) {
	if s.freeLen >= n {
		return
	}
	for i := range s.slab {
		if l := &s.slab[i]; l.used && l.whole == int32(i) && l.load == 0 {
			s.free(int32(i))
		}
	}
	if s.freeLen >= n && s.freeLen >= len(s.slab)/2 {
		return
	}
	for range max(n, len(s.slab)) {
		s.slab = append(s.slab, lane{})
		s.release(int32(len(s.slab) - 1))
	}
}

// add makes a lane in a free slot.
func (s *lanes) add(k key) int32 {
	i := s.freeHead
	s.freeHead = s.slab[i].sibling
	s.freeLen--
	s.slab[i] = lane{key: k, used: true}
	s.byKey[k] = i
	return i
}

// free takes back all lanes of a context in which nothing waits.
func (s *lanes) free(whole int32) {
	for i := whole; i != 0; {
		next := s.slab[i].sibling
		delete(s.byKey, s.slab[i].key)
		s.release(i)
		i = next
	}
}

// release gives back a slot.
func (s *lanes) release(i int32) {
	s.slab[i] = lane{sibling: s.freeHead}
	s.freeHead = i
	s.freeLen++
}
