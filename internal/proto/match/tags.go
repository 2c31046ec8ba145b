package match

import "banyan/internal/proto"

// tagIndex finds the entries of long lists by their tag. A list comes in when a search has passed
// over many of its entries in vain, and goes out when it is empty. So short lists, which are most,
// cost nothing here, and what it costs to take a list in was paid for by what came into the list.
//
// The entries of one list with one tag are in a bin, in the order of the list. Bins are in a slab,
// linked by index, and hashed by list and tag. Slot 0 stays unused.
type tagIndex struct {
	patience int // how many entries a search passes over before the list comes in
	passed   int // how many entries all searches have passed over

	entries  []tagged // by slot of the entry, as far as any has come in
	bins     []bin
	heads    []int32 // the chains of bins: a power of two, and at least as many as bins
	freeHead int32
	used     int
}

// defaultPatience is a search of some cache lines: about what a bin costs.
const defaultPatience = 16

// tagged is what an entry has here, for each of its memberships.
type tagged struct {
	links [2]link
	bins  [2]int32
}

type bin struct {
	key  binKey
	list list
	next int32 // in the chain, or of the free bins
}

type binKey struct {
	list listID
	tag  int32
}

// listID names a list: that of the posted receives or of the unexpected messages of a lane.
type listID int32

// which is a lane's list: the bits of lane.indexed.
type which uint8

const (
	ofPosted which = 1 << iota
	ofUnexpected
)

func idOf(lane int32, w which) listID { return listID(lane<<1 | int32(w)>>1) }

func newTagIndex() tagIndex {
	return tagIndex{patience: defaultPatience}
}

func (k binKey) hash() uint32 {
	h := (uint64(uint32(k.list))<<32 | uint64(uint32(k.tag))) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// chain is where the chain of a key begins. There are chains.
func (x *tagIndex) chain(k binKey) *int32 { return &x.heads[k.hash()&uint32(len(x.heads)-1)] }

// first is the first entry of a list with a tag, or 0.
func (x *tagIndex) first(id listID, tag int32) int32 {
	if len(x.heads) == 0 {
		return 0
	}
	return x.bins[x.find(binKey{id, tag})].list.head
}

// find is the bin of a key, or 0, which is empty.
func (x *tagIndex) find(k binKey) int32 {
	b := *x.chain(k)
	for b != 0 && x.bins[b].key != k {
		b = x.bins[b].next
	}
	return b
}

// add puts an entry behind the others of its list.
func (x *tagIndex) add(id listID, tag, i int32, by membership) {
	for int(i) >= len(x.entries) {
		x.entries = append(x.entries, tagged{})
	}
	if x.used == len(x.heads) {
		x.grow()
	}
	k := binKey{id, tag}
	b := x.find(k)
	if b == 0 {
		b = x.open(k)
	}
	l := &x.bins[b].list
	x.entries[i].bins[by] = b
	x.entries[i].links[by] = link{prev: l.tail}
	if l.tail == 0 {
		l.head = i
	} else {
		x.entries[l.tail].links[by].next = i
	}
	l.tail = i
}

// remove takes an entry out of its bin, and gives an empty bin back.
func (x *tagIndex) remove(i int32, by membership) {
	b, was := x.entries[i].bins[by], x.entries[i].links[by]
	l := &x.bins[b].list
	if was.prev == 0 {
		l.head = was.next
	} else {
		x.entries[was.prev].links[by].next = was.next
	}
	if was.next == 0 {
		l.tail = was.prev
	} else {
		x.entries[was.next].links[by].prev = was.prev
	}
	if l.head == 0 {
		x.close(b)
	}
}

// open makes an empty bin.
func (x *tagIndex) open(k binKey) int32 {
	b := x.freeHead
	if b != 0 {
		x.freeHead = x.bins[b].next
	} else {
		x.bins = append(x.bins, bin{})
		b = int32(len(x.bins) - 1)
	}
	chain := x.chain(k)
	x.bins[b] = bin{key: k, next: *chain}
	*chain = b
	x.used++
	return b
}

// close gives back a bin.
func (x *tagIndex) close(b int32) {
	at := x.chain(x.bins[b].key)
	for *at != b {
		at = &x.bins[*at].next
	}
	*at = x.bins[b].next
	x.bins[b] = bin{next: x.freeHead}
	x.freeHead = b
	x.used--
}

// grow makes twice as many chains.
func (x *tagIndex) grow() {
	if x.bins == nil {
		x.bins = make([]bin, 1)
	}
	old := x.heads
	x.heads = make([]int32, max(16, 2*len(old)))
	for _, b := range old {
		for b != 0 {
			next := x.bins[b].next
			chain := x.chain(x.bins[b].key)
			x.bins[b].next, *chain = *chain, b
			b = next
		}
	}
}

// searchPosted is the first receive of a lane's list that takes a tag, or 0, where the first of all
// doesn't.
func (q *Queues) searchPosted(lane, tag int32) int32 {
	l := q.lanes.at(lane)
	if l.indexed&ofPosted == 0 {
		i := q.entries.next(l.posted.head, inLane)
		for n := 1; i != 0 && n < q.tags.patience; n++ {
			if want := q.entries.at(i).envelope.Tag; want == tag || want == proto.AnyTag {
				return i
			}
			q.tags.passed++
			i = q.entries.next(i, inLane)
		}
		if i == 0 {
			return 0
		}
		q.index(lane, ofPosted, l.posted, inLane)
	}
	id := idOf(lane, ofPosted)
	i, any := q.tags.first(id, tag), q.tags.first(id, proto.AnyTag)
	if i == 0 || any != 0 && q.entries.at(any).stamp < q.entries.at(i).stamp {
		return any
	}
	return i
}

// searchUnexpected is the first message of a lane's list with a tag, or 0, where the first of all
// has another.
func (q *Queues) searchUnexpected(lane, tag int32, by membership) int32 {
	l := q.lanes.at(lane)
	if l.indexed&ofUnexpected == 0 {
		i := q.entries.next(l.unexpected.head, by)
		for n := 1; i != 0 && n < q.tags.patience; n++ {
			if q.entries.at(i).envelope.Tag == tag {
				return i
			}
			q.tags.passed++
			i = q.entries.next(i, by)
		}
		if i == 0 {
			return 0
		}
		q.index(lane, ofUnexpected, l.unexpected, by)
	}
	return q.tags.first(idOf(lane, ofUnexpected), tag)
}

// index takes a list in.
func (q *Queues) index(lane int32, w which, l list, by membership) {
	for i := l.head; i != 0; i = q.entries.next(i, by) {
		q.tags.add(idOf(lane, w), q.entries.at(i).envelope.Tag, i, by)
	}
	q.lanes.at(lane).indexed |= w
}

// unindex takes an entry out, before it leaves its list, and the list if this was the last.
func (q *Queues) unindex(l *lane, w which, in *list, i int32, by membership) {
	q.tags.remove(i, by)
	if in.head == in.tail {
		l.indexed &^= w
	}
}

// keepIndexed takes a message in whose lists have come in, or one of them.
func (q *Queues) keepIndexed(lane, tag, i int32) {
	l := q.lanes.at(lane)
	if l.indexed&ofUnexpected != 0 {
		q.tags.add(idOf(lane, ofUnexpected), tag, i, inLane)
	}
	if q.lanes.at(l.whole).indexed&ofUnexpected != 0 {
		q.tags.add(idOf(l.whole, ofUnexpected), tag, i, inAll)
	}
}

// takeIndexed is its converse, before the message leaves its lists.
func (q *Queues) takeIndexed(l, whole *lane, i int32) {
	if l.indexed&ofUnexpected != 0 {
		q.unindex(l, ofUnexpected, &l.unexpected, i, inLane)
	}
	if whole.indexed&ofUnexpected != 0 {
		q.unindex(whole, ofUnexpected, &whole.unexpected, i, inAll)
	}
}
