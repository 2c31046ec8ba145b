package oneport

import (
	"math/bits"

	"banyan/internal/proto"
)

// eventKind says what happens to a node.
type eventKind uint8

const (
	timer     eventKind = iota // its machine's deadline
	transfer                   // the message that it sends is over
	crash                      // it dies
	stop                       // its loop stalls
	resume                     // its loop goes on
	stallLoad                  // load stops it
	wakeLoad                   // and lets it go on
)

type event struct {
	time proto.Time
	node int32
	kind eventKind
}

// queue holds the coming events, in the order of time, and of adding within an instant. It is a
// radix heap, which demands that nothing is added before the time of what was taken out last:
// bucket i > 0 holds the events whose time differs from that in bit i-1 at the highest, bucket 0
// those of that time. An event only ever moves to lower buckets, and buckets are read from one
// end to the other: for a quarter of a million timers it is several times faster than a heap,
// which jumps about.
type queue struct {
	buckets [64][]event
	used    uint64 // bit i: bucket i > 0 isn't empty
	last    proto.Time
	head    int // of bucket 0
}

// add adds an event at the time of the last one taken out, or later.
func (q *queue) add(e event) {
	i := bits.Len64(uint64(e.time ^ q.last))
	q.buckets[i] = append(q.buckets[i], e)
	q.used |= 1 << i
}

// take takes out the next event, unless that is later than until.
func (q *queue) take(until proto.Time) (e event, ok bool) {
	if q.head == len(q.buckets[0]) && !q.refill(until) {
		return event{}, false
	}
	if q.last > until {
		return event{}, false
	}
	e = q.buckets[0][q.head]
	q.head++
	return e, true
}

// refill fills bucket 0 with the events of the next instant, unless that is later
// than until: then the queue stays as it is, for events before may yet be
// added.
func (q *queue) refill(until proto.Time) bool {
	q.buckets[0], q.head = q.buckets[0][:0], 0
	q.used &^= 1
	if q.used == 0 {
		return false
	}
	i := bits.TrailingZeros64(q.used)
	bucket := q.buckets[i]
	next := bucket[0].time
	for _, e := range bucket[1:] {
		next = min(next, e.time)
	}
	if next > until {
		return false
	}
	q.last = next
	q.buckets[i] = bucket[:0]
	q.used &^= 1 << i
	for _, e := range bucket {
		q.add(e) // to a lower bucket, so not over what is being read
	}
	return true
}

func (q *queue) clear() {
	for i := range q.buckets {
		q.buckets[i] = q.buckets[i][:0]
	}
	q.used, q.last, q.head = 0, 0, 0
}
