package replica

import "banyan/internal/proto"

// This file has what the layer above decides by: when to acknowledge, how much to retain, how far a
// replica may be ahead. Real processes and simulated ones share it.

const (
	// EagerLimit is the largest message in bytes that is sent unasked. Larger ones are
	// offered, and travel when the receiver asks for them.
	EagerLimit = 64 << 10
	// RetainLimit is how many bytes may be kept for other replicas before sends stop completing
	// at once. It can't deadlock: the replica that lags behind holds nothing unacknowledged.
	RetainLimit = 256 << 20
	// RetainCost is about what a message of no bytes takes.
	RetainCost = 256
	// SkewLimit is how many bytes the program may have received with mirror, in messages that are
	// sent unasked, before its sends wait until the programs of the other replicas have received
	// them, too. It is about a core's own cache rather than memory: what reaches a lagging
	// replica too early is read after it has been evicted from there.
	SkewLimit = 1 << 20
)

// An acknowledgement lets other replicas drop their copy of a message, but nothing waits for
// it, and acknowledging few messages at a time wakes the replica again and again. So a
// process collects what it owes, up to these bounds: how many arrivals, how many bytes, for how
// long in nanoseconds. More had better not wait: what isn't acknowledged is kept by other replicas,
// in memory that should stay in their caches.
const (
	AcksOwedLimit = 64
	AcksOwedBytes = 32 << 10
	AcksOwedTime  = proto.Time(5e6)
)

// AckPace says when what is owed to other replicas is acknowledged.
type AckPace struct {
	limit int // how many arrivals are acknowledged together
	bytes int // arrived, and not acknowledged
	// Due is when what is owed has to go; 0: no time is set, and it goes at the next opportunity.
	Due proto.Time
}

// NewAckPace is the pace with the bounds above or, to measure what they spare, with an
// acknowledgement for each message as the paper has it.
func NewAckPace(each bool) AckPace {
	if each {
		return AckPace{limit: 1}
	}
	return AckPace{limit: AcksOwedLimit}
}

// Owe notes that so many bytes have arrived, after which so many arrivals are to be
// acknowledged. It tells whether that has to be now.
func (a *AckPace) Owe(arrivals, bytes int, now proto.Time) (flush bool) {
	a.bytes += bytes
	switch {
	case arrivals >= a.limit || a.bytes >= AcksOwedBytes:
		return true
	case arrivals > 0 && a.Due == 0:
		a.Due = now + AcksOwedTime
	}
	return false
}

// Room is how many more bytes may arrive before what is owed has to be acknowledged.
func (a *AckPace) Room() int { return AcksOwedBytes - a.bytes }

// Flushed notes that nothing is owed any more.
func (a *AckPace) Flushed() { a.bytes, a.Due = 0, 0 }
