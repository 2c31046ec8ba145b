// Package match pairs messages with receives by MPI's rules: it keeps
// the receives that wait for a message (posted) and the messages that wait for
// a receive (unexpected).
//
// # Order
//
//   - A message goes to the earliest posted receive that it fits.
//   - A receive takes the earliest arrived message that fits it.
//   - A message fits a receive of the same context if source and tag are equal
//     or the receive says AnyRank, AnyTag.
//
// So no message is kept that fits a posted receive: an arrival looks only at
// the posted, a receive only at the unexpected.
//
// # Shape
//
// A lane holds what concerns one source in one context; the lane of AnyRank holds what concerns the
// whole context. A posted receive is in the lane of the source it names, perhaps AnyRank; an
// unexpected message is in the lane of its source and in its context's. A message that arrives thus
// has two candidates, the first that fits in each of its lanes, and the stamp says which was posted
// earlier. A search passes over some entries of the lane that don't fit; if they are many, the list
// comes into an index by tag (tags.go). So everything is O(1), whatever waits.
//
// A receive that is posted while nothing else waits is alone: it is kept beside the lanes, and
// moves into them when another is posted. A program that receives one message after another
// never uses the lanes.
//
// Entries and lanes are in slabs and link by index (slot 0 is none), which
// the garbage collector needn't look into and which allocate nothing once
// they have grown. Contexts come and go: before the slab of lanes grows, the lanes of
// contexts in which nothing waits are freed.
//
// Tokens are the caller's names for its receives and messages. The packages
// above make sure that messages to the own process arrive here too, and that duplicates
// don't.
package match

import "banyan/internal/proto"

// Envelope is what matching looks at.
type Envelope struct {
	Context uint64
	Src     proto.Rank // AnyRank only in receives and probes
	Tag     int32      // AnyTag only in receives and probes
}

// takes tells whether a message fits a receive.
func (r *Envelope) takes(m Envelope) bool {
	return r.Context == m.Context && (r.Src == m.Src || r.Src == proto.AnyRank) && (r.Tag == m.Tag || r.Tag == proto.AnyTag)
}

// Queues are the posted receives and unexpected messages of one process.
type Queues struct {
	entries entries
	lanes   lanes
	stamp   uint64 // of the last posted receive
	tags    tagIndex

	alone       bool // the only posted receive is not in a lane, but here:
	envelope    Envelope
	token       uint32
	accompanied int32 // the entry of the last that was alone and isn't any more

	counts *Counts
}

// Counts are how many receives are posted and how many messages are unexpected. Both are in one
// word, which C reads at once.
type Counts struct {
	_                  [0]uint64 // so that the word is aligned
	Posted, Unexpected int32
}

// New returns empty queues.
func New() *Queues { return NewCounted(&Counts{}) }

// NewCounted returns empty queues that keep their counts where the caller wants them.
func NewCounted(counts *Counts) *Queues {
	*counts = Counts{}
	return &Queues{entries: entries{slab: make([]entry, 1)}, lanes: newLanes(), tags: newTagIndex(), counts: counts}
}

// Post matches a receive with the earliest unexpected message that fits and
// removes that; or else queues the receive, and returns its ticket for Cancel.
func (q *Queues) Post(e Envelope, token uint32) (unexpectedOrTicket uint32, matched bool) {
	if q.counts.Posted|q.counts.Unexpected == 0 {
		q.alone, q.envelope, q.token, q.counts.Posted = true, e, token, 1
		return aloneTicket, false
	}
	lane := q.lanes.get(e.Context, e.Src)
	if i := q.firstUnexpected(lane, e); i != 0 {
		return q.takeUnexpected(i), true
	}
	if q.alone {
		q.alone, q.counts.Posted = false, 0
		q.accompanied = q.post(q.lanes.get(q.envelope.Context, q.envelope.Src), q.envelope, q.token)
		lane = q.lanes.get(e.Context, e.Src) // it may have been taken back, as empty
	}
	return uint32(q.post(lane, e, token)), false
}

// aloneTicket is the ticket of a receive that was alone when it was posted: at most one is
// queued.
const aloneTicket = 0

func (q *Queues) post(lane int32, e Envelope, token uint32) int32 {
	q.stamp++
	i := q.entries.add(entry{envelope: e, token: token, stamp: q.stamp, lane: lane})
	l := q.lanes.at(lane)
	q.entries.append(&l.posted, i, inLane)
	if l.indexed&ofPosted != 0 {
		q.tags.add(idOf(lane, ofPosted), e.Tag, i, inLane)
	}
	q.lanes.at(l.whole).load++
	q.counts.Posted++
	return i
}

// Claim removes the earliest posted receive that a message which has arrived
// fits. Where there is none the message must be kept at once.
func (q *Queues) Claim(e Envelope) (posted uint32, matched bool) {
	if q.alone {
		if !q.envelope.takes(e) {
			return 0, false
		}
		q.alone, q.counts.Posted = false, 0
		return q.token, true
	}
	if q.counts.Posted == 0 {
		return 0, false
	}
	lane := q.lanes.get(e.Context, e.Src)
	i := q.firstPosted(lane, e.Tag)
	any := q.firstPosted(q.lanes.at(lane).whole, e.Tag)
	if i == 0 || any != 0 && q.entries.at(any).stamp < q.entries.at(i).stamp {
		i = any
	}
	if i == 0 {
		return 0, false
	}
	posted = q.entries.at(i).token
	q.removePosted(i)
	return posted, true
}

// Awaited finds the posted receive that Claim would remove, and leaves it.
func (q *Queues) Awaited(e Envelope) (posted uint32, ok bool) {
	if q.alone {
		return q.token, q.envelope.takes(e)
	}
	if q.counts.Posted == 0 {
		return 0, false
	}
	first := int32(0)
	for _, src := range [...]proto.Rank{e.Src, proto.AnyRank} {
		lane, found := q.lanes.find(e.Context, src)
		if !found {
			continue
		}
		i := q.firstPosted(lane, e.Tag)
		if first == 0 || i != 0 && q.entries.at(i).stamp < q.entries.at(first).stamp {
			first = i
		}
	}
	return q.entries.at(first).token, first != 0
}

// Keep queues a message that fits no posted receive as unexpected.
func (q *Queues) Keep(e Envelope, token uint32) {
	lane := q.lanes.get(e.Context, e.Src)
	i := q.entries.add(entry{envelope: e, token: token, lane: lane})
	l := q.lanes.at(lane)
	whole := q.lanes.at(l.whole)
	q.entries.append(&l.unexpected, i, inLane)
	q.entries.append(&whole.unexpected, i, inAll)
	if (l.indexed|whole.indexed)&ofUnexpected != 0 {
		q.keepIndexed(lane, e.Tag, i)
	}
	whole.load++
	q.counts.Unexpected++
}

// Probe finds the message that a receive would take, and leaves it.
func (q *Queues) Probe(e Envelope) (unexpected uint32, ok bool) {
	if lane, found := q.lanes.find(e.Context, e.Src); found {
		if i := q.firstUnexpected(lane, e); i != 0 {
			return q.entries.at(i).token, true
		}
	}
	return 0, false
}

// Take removes the message that a receive would take.
func (q *Queues) Take(e Envelope) (unexpected uint32, ok bool) {
	if lane, found := q.lanes.find(e.Context, e.Src); found {
		if i := q.firstUnexpected(lane, e); i != 0 {
			return q.takeUnexpected(i), true
		}
	}
	return 0, false
}

// Cancel withdraws a receive that is still queued, by its ticket.
func (q *Queues) Cancel(ticket uint32) {
	switch {
	case ticket != aloneTicket:
		q.removePosted(int32(ticket))
	case q.alone:
		q.alone, q.counts.Posted = false, 0
	default:
		q.removePosted(q.accompanied)
	}
}

// Source is what a receive that is still queued takes messages of, by its ticket.
func (q *Queues) Source(ticket uint32) proto.Rank {
	switch {
	case ticket != aloneTicket:
		return q.entries.at(int32(ticket)).envelope.Src
	case q.alone:
		return q.envelope.Src
	default:
		return q.entries.at(q.accompanied).envelope.Src
	}
}

// Len is how many receives are posted and how many messages are unexpected.
func (q *Queues) Len() (posted, unexpected int) {
	return int(q.counts.Posted), int(q.counts.Unexpected)
}

// EachUnexpected shows the unexpected messages, those of one context in the order of
// their arrival. visit must not change the queues.
func (q *Queues) EachUnexpected(visit func(unexpected uint32)) {
	for i := range q.lanes.slab {
		if l := &q.lanes.slab[i]; l.used && l.whole == int32(i) {
			for e := l.unexpected.head; e != 0; e = q.entries.next(e, inAll) {
				visit(q.entries.at(e).token)
			}
		}
	}
}

// DropUnexpected forgets the unexpected messages of which drop says so. drop is shown all of them,
// those of one context in the order of their arrival, and must not change the queues.
func (q *Queues) DropUnexpected(drop func(unexpected uint32) bool) {
	for i := range q.lanes.slab {
		l := &q.lanes.slab[i]
		if !l.used || l.whole != int32(i) {
			continue
		}
		for e := l.unexpected.head; e != 0; {
			next := q.entries.next(e, inAll)
			if drop(q.entries.at(e).token) {
				q.takeUnexpected(e)
			}
			e = next
		}
	}
}

// DropContext forgets a context: its posted receives, and its unexpected
// messages, which visit is shown in the order of their arrival. It must not
// change the queues.
func (q *Queues) DropContext(context uint64, visit func(unexpected uint32)) {
	if q.alone && q.envelope.Context == context {
		q.alone, q.counts.Posted = false, 0
	}
	whole, ok := q.lanes.find(context, proto.AnyRank)
	if !ok {
		return
	}
	for unexpected := &q.lanes.at(whole).unexpected; unexpected.head != 0; {
		visit(q.takeUnexpected(unexpected.head))
	}
	for lane := whole; lane != 0; lane = q.lanes.at(lane).sibling {
		for posted := &q.lanes.at(lane).posted; posted.head != 0; {
			q.removePosted(posted.head)
		}
	}
	q.lanes.free(whole)
}

// firstPosted is the first receive of a lane's that takes a tag, or 0.
func (q *Queues) firstPosted(lane, tag int32) int32 {
	i := q.lanes.at(lane).posted.head
	if i == 0 {
		return 0
	}
	if want := q.entries.at(i).envelope.Tag; want == tag || want == proto.AnyTag {
		return i
	}
	return q.searchPosted(lane, tag)
}

// firstUnexpected is the first message that fits a receive, or 0; lane is that
// of the source that the receive names.
func (q *Queues) firstUnexpected(lane int32, e Envelope) int32 {
	i := q.lanes.at(lane).unexpected.head
	if i == 0 || e.Tag == proto.AnyTag || q.entries.at(i).envelope.Tag == e.Tag {
		return i
	}
	by := inLane
	if e.Src == proto.AnyRank {
		by = inAll
	}
	return q.searchUnexpected(lane, e.Tag, by)
}

func (q *Queues) removePosted(i int32) {
	l := q.lanes.at(q.entries.at(i).lane)
	if l.indexed&ofPosted != 0 {
		q.unindex(l, ofPosted, &l.posted, i, inLane)
	}
	q.entries.unlink(&l.posted, i, inLane)
	q.entries.free(i)
	q.lanes.at(l.whole).load--
	q.counts.Posted--
}

// takeUnexpected removes a message and returns its token.
func (q *Queues) takeUnexpected(i int32) (token uint32) {
	l := q.lanes.at(q.entries.at(i).lane)
	whole := q.lanes.at(l.whole)
	if (l.indexed|whole.indexed)&ofUnexpected != 0 {
		q.takeIndexed(l, whole, i)
	}
	token = q.entries.at(i).token
	q.entries.unlink(&l.unexpected, i, inLane)
	q.entries.unlink(&whole.unexpected, i, inAll)
	q.entries.free(i)
	whole.load--
	q.counts.Unexpected--
	return token
}
